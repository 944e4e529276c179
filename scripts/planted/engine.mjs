// Faults of the engine: fusion, schedules, memory, failures, and kernels that run elsewhere.

import { conformance, rust, step, titled } from './commands.mjs'

export const ENGINE = [
  {
    name: 'nothing-is-fused',
    class: 'Fusion is lost: as right as before, and several times as slow',
    by: [rust('engine', 'engine', 'session::a_chain_fuses'), titled('profile/kernels', 'a kernel is named*')]
  },
  {
    name: 'fusion-forgets-a-rounding',
    class: 'Fusing changes bits',
    by: [conformance('programs/'), rust('core', '--lib', 'simplify')]
  },
  {
    name: 'duplicates-whatever-their-shape',
    class: 'Different values are taken for duplicates',
    by: [rust('engine', 'engine', 'session::')]
  },
  {
    name: 'temporaries-overlap',
    class: 'Memory of one temporary is given to another that lives at the same time',
    by: [rust('engine', '--lib', 'arena')]
  },
  {
    name: 'schedules-ignore-layouts',
    class: 'Something kept from an earlier program does not fit the next one',
    by: [rust('engine', 'engine', 'session::a_program_of_dense')]
  },
  {
    name: 'schedules-are-made-anew',
    class: 'Something kept is not found again, which shows in time alone',
    by: [rust('engine', 'engine', 'session::the_same_program')]
  },
  {
    name: 'launches-grow-step-by-step',
    class: 'A call allocates more, or by the length of its program',
    by: [rust('engine', 'allocations')]
  },
  {
    name: 'a-lookup-hashes-twice',
    class: 'The engine takes more instructions for each program',
    by: [step('instruction counts')],
    why: 'Counting takes valgrind, and tells what no clock on a shared machine tells.',
    patch: { file: 'crates/engine/src/session.rs', find: '        if let Some(schedule) = self.schedules.get(self.key.as_slice()) {', replace: '        for _ in 0..32 {\n            std::hint::black_box(self.schedules.get(std::hint::black_box(self.key.as_slice())));\n        }\n        if let Some(schedule) = self.schedules.get(self.key.as_slice()) {' }
  },
  {
    name: 'returned-memory-counts-as-live',
    class: 'Memory leaks from the pool',
    by: [titled('lifecycle', 'disposing frees the memory at once'), rust('engine', '--lib', 'pool')]
  },
  {
    name: 'the-budget-admits-everything',
    class: 'The memory budget is not kept',
    by: [rust('engine', 'engine', 'session::the_budget'), titled('robustness', 'the budget holds*')]
  },
  {
    name: 'a-failed-program-leaves-values',
    class: 'A failure of values is lost, and garbage is read',
    by: [rust('engine', 'engine', 'session::index_errors'), titled('lifecycle', 'errors of values*')]
  },
  {
    name: 'refused-memory-panics',
    class: 'Memory that the system refuses is met by a panic instead of an error',
    by: [rust('engine', 'fault')]
  },
  {
    name: 'results-alone-count-as-carried',
    class: 'What a fallback costs is counted wrongly',
    by: [rust('engine', 'engine', 'hostile::every_byte'), conformance('add/int32/hostile')]
  },
  {
    name: 'a-fallback-overwrites-its-surroundings',
    class: 'A fallback carries wrong bytes back',
    by: [rust('engine', 'engine', 'hostile::copies_of_dtypes')]
  },
  {
    name: 'an-ended-environment-goes-on',
    class: 'Work that nobody wants any more holds up others (a worker that ended)',
    by: [titled('exit', 'what a worker was computing*')]
  }
]
