/** The command line as a process of its own. */
import { spawnSync } from "node:child_process"
import { join } from "node:path"
import { root } from "../../../../scripts/files.ts"
import type { Said } from "./playing.ts"

export const main = join(root, "packages/view/src/cli/main.ts")

/** A path as one word of a shell. */
export const quoted = (path: string): string => `'${path.replaceAll("'", () => "'\\''")}'`

/** Runs commands in a shell that stands in `cwd`, where `kintsugi` is the program. */
export const shellIn =
  (cwd: string) =>
  (command: string, env: Readonly<Record<string, string>> = {}): Said => {
    const { NO_COLOR: _n, FORCE_COLOR: _f, ...rest } = process.env
    const program = `kintsugi() { ${quoted(process.execPath)} ${quoted(main)} "$@"; }`
    const { status, stderr, stdout } = spawnSync("bash", ["-c", `set -o pipefail; ${program}; ${command}`], {
      cwd,
      encoding: "utf8",
      env: { ...rest, ...env }
    })
    return { code: status ?? -1, out: stdout, err: stderr }
  }
