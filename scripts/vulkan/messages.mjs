// What Khronos' validation layer says, among the lines of whatever runs under it; and whether the layer is there at all.

import { existsSync, readdirSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'

/**
 * Its messages, each as one text. One begins with the name of the rule and its kind, `VUID-...(ERROR / SPEC): msgNum: ...`, wherever in a
 * line that is, and goes on in lines that are indented.
 */
export function messages(output) {
  return [...output.matchAll(/[\w.-]+\((?:ERROR|WARN|WARNING|PERF|INFO)(?: \/ [\w ]+)*\): msgNum: .*(?:\n[ \t]+.*)*|Validation (?:Error|Warning|Performance Warning): \[.*(?:\n[ \t]+.*)*/g)].map(([text]) => text)
}

/** Where loaders look for descriptions of layers. */
const FOLDERS = () => {
  const data = [process.env.XDG_DATA_HOME ?? join(homedir(), '.local/share'), '/usr/local/share', '/usr/share', '/etc']
  return [process.env.VK_LAYER_PATH, ...data.map((folder) => join(folder, 'vulkan/explicit_layer.d'))].filter(Boolean)
}

/** Why Khronos' layer cannot be used here; null if it can. */
export function noLayer() {
  if (process.platform !== 'linux') return 'this system is not Linux'
  const named = (folder) => existsSync(folder) && readdirSync(folder).some((file) => /khronos_validation/i.test(file))
  return FOLDERS().some(named) ? null : "Khronos' validation layer is not installed (package vulkan-validationlayers)"
}
