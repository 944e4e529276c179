// Faults of the Vulkan backend. Mesa's software device runs one thing after the other, so that some show on other devices alone.

import { conformance, rust, step } from './commands.mjs'

export const VULKAN = [
  {
    name: 'a-barrier-is-missing',
    class: 'Commands that depend on each other have no barrier between them',
    by: [rust('gpu', '--lib', 'hazards'), step('Vulkan under validation')]
  },
  {
    name: 'lanes-of-a-subgroup-run-together',
    class: 'A kernel relies on how many invocations a subgroup has',
    by: [rust('vulkan', 'vulkan', 'snapshots::'), step('other Vulkan devices', 'subgroups of 4', '--', 'rows::')]
  },
  {
    name: 'the-last-group-writes-beyond',
    class: 'A bound in a kernel is off by one',
    by: [rust('vulkan', 'vulkan', 'snapshots::'), conformance('add/float32/vulkan')]
  },
  {
    name: 'a-missing-capability-is-used',
    class: 'Something is used that the device does not have',
    by: [rust('vulkan', 'vulkan', 'poor::what_a_poor_device')]
  },
  {
    name: 'staging-memory-is-used-too-early',
    class: 'Memory is used again before the device is done with it',
    by: [rust('vulkan', 'vulkan', 'memory::small_copies')]
  }
]
