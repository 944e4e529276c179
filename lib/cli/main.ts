#!/usr/bin/env node
// The program `ferrotensor`: reads the command line, runs the command, prints what went wrong, and ends with an exit code.

import { TensorError } from '../errors.js'
import { VERSION } from '../loader.js'
import { readArguments, UsageError } from './arguments.js'
import { EXIT } from './commands.js'
import { helpOf } from './help.js'
import { print, report } from './output.js'

/** The exit code of what the words ask for. */
async function execute(words: readonly string[]): Promise<number> {
  if (words.length === 0) {
    process.stderr.write(`${helpOf(undefined).join('\n')}\n`)
    return EXIT.usage
  }
  const request = readArguments(words)
  switch (request.kind) {
    case 'help':
      print(helpOf(request.command))
      return EXIT.success
    case 'version':
      print([VERSION])
      return EXIT.success
    case 'run': {
      const { run } = await request.command.load()
      return run(request.given)
    }
  }
}

/** The exit code for what a command threw. Anything but the two kinds that are expected is a mistake of ours, shown with its stack. */
function failed(error: unknown): number {
  if (error instanceof UsageError) {
    report(error.message)
    return EXIT.usage
  }
  report(error instanceof TensorError ? error.message : ((error as Error).stack ?? String(error)))
  return EXIT.failure
}

// A reader that has seen enough (`| head`) is no failure.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
    process.exit()
  })
}

// Set, not passed to `process.exit`: a pipe takes what was printed after this line.
process.exitCode = await execute(process.argv.slice(2)).catch(failed)
