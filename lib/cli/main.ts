#!/usr/bin/env node
// The program `ferrotensor`: reads the command line, runs the command, prints what went wrong, and ends with an exit code.

import { BackendUnavailableError, TensorError } from '../errors.js'
import { VERSION } from '../generated/package.js'
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

/** The lines of what a command threw. Anything but the two kinds that are expected is a mistake of ours, shown with its stack. */
function linesOf(error: unknown): string[] {
  // Why there is no native module is several lines; line ends in other messages are those of names and paths.
  if (error instanceof BackendUnavailableError) return error.message.split('\n')
  if (error instanceof TensorError || error instanceof UsageError) return [error.message]
  return ((error as Error).stack ?? String(error)).split('\n')
}

/** The exit code for what a command threw. */
function failed(error: unknown): number {
  report(...(linesOf(error) as [string, ...string[]]))
  return error instanceof UsageError ? EXIT.usage : EXIT.failure
}

// A reader that has seen enough (`| head`) is no failure.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit()
    if (stream === process.stdout) report(`standard output: ${error.message}`)
    // At the very end: the command, which may still be running, sets its own.
    process.once('exit', () => (process.exitCode = EXIT.failure))
  })
}

// Set, not passed to `process.exit`: a pipe takes what was printed after this line.
process.exitCode = await execute(process.argv.slice(2)).catch(failed)
