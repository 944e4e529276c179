// Faults of files: formats that lie, and files that are replaced.

import { javascript, rust } from './commands.mjs'

export const FILES = [
  {
    name: 'columns-are-read-as-rows',
    class: 'What the header of a file says is ignored',
    by: [rust('io', 'golden', 'golden_arrays'), javascript('io/roundtrip')]
  },
  {
    name: 'checksums-are-not-looked-at',
    class: 'Damaged data are read as if they were whole',
    by: [rust('io', 'hostile', 'elements_of_an_archive')]
  },
  {
    name: 'a-short-file-is-read',
    class: 'Declared sizes are believed without a look at the bytes that are there',
    by: [rust('io', 'hostile', 'a_file_cut')]
  },
  {
    name: 'saving-empties-the-old-file-first',
    class: 'A file that is being replaced is lost where the new one fails',
    by: [rust('io', '--lib', 'save'), javascript('io/refused')]
  }
]
