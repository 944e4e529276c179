// How the messages of a validation layer are found among the lines of tests: one that is overlooked is a fault that nobody hears of.
// runs on: host

import test from 'ava'

// This file runs as dist/__test__/scripts/validation.test.js.
const { messages } = (await import(new URL('../../../scripts/vulkan/messages.mjs', import.meta.url).href)) as { messages(output: string): string[] }

test('a message is found wherever in a line it begins, with the lines that belong to it', (t) => {
  const output = [
    'running 2 tests',
    'test one ... VUID-VkBufferCreateInfo-usage-requiredbitmask(ERROR / SPEC): msgNum: 1 - Validation Error: [ VUID-VkBufferCreateInfo-usage-requiredbitmask ] Object 0: ...',
    '    Objects: 1',
    '        [0] 0x1, type: 3, name: NULL',
    'ok',
    'SYNC-HAZARD-READ_AFTER_WRITE(ERROR / SPEC): msgNum: -2 - Validation Error: [ SYNC-HAZARD-READ_AFTER_WRITE ] Object 0: ...',
    'test two ... ok',
    'test result: ok. 2 passed; 0 failed'
  ].join('\n')
  const [call, barrier, ...more] = messages(output)
  t.deepEqual(more, [])
  t.regex(call as string, /^VUID-VkBufferCreateInfo[^]*type: 3, name: NULL$/)
  t.regex(barrier as string, /^SYNC-HAZARD-READ_AFTER_WRITE/)
})

test('tests that fail without a message have none', (t) => {
  t.deepEqual(messages("test x ... FAILED\nthread 'x' panicked at y.rs:1:1:\nassertion failed: VUID\ntest result: FAILED. 0 passed; 1 failed\n"), [])
})
