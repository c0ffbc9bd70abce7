/**
 * How the time and the memory of the functions that see foreign text grow, up to inputs of 1 MiB.
 *
 *   npm run linear                         all of them, for an hour
 *   npm run linear -- core/src/data        some of them
 *   npm run linear -- Redaction.ts --all   with every family of inputs on which one is refused
 *
 * Under CI each function has a few families of its inputs. `test/linear` measures the time up to 256 KiB. The inputs stand in
 * `test/_support/inputs`.
 */
import { spawnSync } from "node:child_process"
import { join } from "node:path"
import { root } from "./files.ts"
import { isCi } from "./report.ts"

interface Line {
  readonly id?: string
  readonly family?: string
  readonly refusal?: string
  readonly begun?: string
  readonly ended?: true
}

const program = join(root, "test/_support/inputs/main.ts")
const { stdout } = spawnSync(
  process.execPath,
  // collects before each measurement of memory
  ["--expose-gc", program, "--long", ...(isCi() ? ["--part=1/32"] : []), ...process.argv.slice(2)],
  { cwd: root, encoding: "utf8", maxBuffer: 64 * 1024 * 1024, stdio: ["ignore", "pipe", "inherit"] }
)

const lines: ReadonlyArray<Line> = stdout
  .split("\n")
  // the log of the library stands between
  .filter((line) => line.startsWith("{"))
  .map((line) => JSON.parse(line))
const refused = lines.filter(({ refusal }) => refusal !== undefined)
const begun = lines.flatMap(({ begun }) => begun ?? [])
const hasEnded = lines.at(-1)?.ended === true

const say = (line: string) => process.stdout.write(`${line}\n`)
for (const { family, id, refusal } of refused) say(`${id}: ${family}: ${refusal}`)
if (!hasEnded) say(`it did not end; the last function was ${begun.at(-1)}`)
say(`${begun.length} functions, ${new Set(refused.map(({ id }) => id)).size} refused`)

process.exitCode = hasEnded && begun.length > 0 && refused.length === 0 ? 0 : 1
