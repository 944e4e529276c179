// Every planted fault, as data: what class of faults it stands for, how it is planted, and which parts of which steps are to catch it, the
// first ones first.
//
// `patch`: a text replaced in a copy of the repository; the others are switches of crates/core/src/planted.rs, of the same name. `why`: why
// no quick step catches it.

import { ARITHMETIC } from './arithmetic.mjs'
import { BOUNDARY } from './boundary.mjs'
import { ENGINE } from './engine.mjs'
import { FILES } from './files.mjs'
import { OPERATIONS } from './operations.mjs'
import { REPOSITORY } from './repository.mjs'
import { SURFACE } from './surface.mjs'
import { VULKAN } from './vulkan.mjs'

/**
 * @type {{ name: string, class: string, by: { step: string, command: string[], env?: Record<string, string> }[], why?: string,
 *   patch?: { file: string, find: string, replace: string } }[]}
 */
export const FAULTS = [...ARITHMETIC, ...OPERATIONS, ...ENGINE, ...BOUNDARY, ...FILES, ...VULKAN, ...SURFACE, ...REPOSITORY]

export const isSwitch = ({ patch }) => patch === undefined
