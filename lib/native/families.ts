// The families of native functions: each is one file beside this one, and the module of `crates/node` of the same name.

import { CONTROL, type ControlFunctions } from './control.js'
import { ERROR, type ErrorFunctions } from './error.js'
import { FILES, type FileFunctions } from './files.js'
import { FLAT, type FlatFunctions } from './flat.js'
import { HANDLES, type HandleFunctions } from './handles.js'
import { PLAN, type PlanFunctions } from './plan.js'
import { PROFILE, type ProfileFunctions } from './profile.js'
import { PROGRAM, type ProgramFunctions } from './program.js'
import { READBACK, type ReadbackFunctions } from './readback.js'
import { SHARE, type ShareFunctions } from './share.js'
import { TABLES, type TableFunctions } from './tables.js'
import { WATCH, type WatchFunctions } from './watch.js'

/**
 * The functions of `crates/node`, documented there.
 * @internal
 */
export interface Native
  extends ControlFunctions,
    ErrorFunctions,
    FileFunctions,
    FlatFunctions,
    HandleFunctions,
    PlanFunctions,
    ProfileFunctions,
    ProgramFunctions,
    ReadbackFunctions,
    ShareFunctions,
    TableFunctions,
    WatchFunctions {}

/**
 * The names of the functions, by family.
 * @internal
 */
export const FAMILIES = {
  control: CONTROL,
  error: ERROR,
  files: FILES,
  flat: FLAT,
  handles: HANDLES,
  plan: PLAN,
  profile: PROFILE,
  program: PROGRAM,
  readback: READBACK,
  share: SHARE,
  tables: TABLES,
  watch: WATCH
}

/**
 * The names of all functions.
 * @internal
 */
export const FUNCTIONS = Object.values(FAMILIES).flatMap((family) => Object.keys(family))
