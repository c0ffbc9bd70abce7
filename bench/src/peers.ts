/**
 * Ours beside other libraries, each with the same work and the same model in the process. They are heavy, so that nothing else
 * installs them: `bench/peers` is a package of its own with a lock file of its own, outside of the workspace.
 *
 *   npm run bench:peers                 all
 *   npm run bench:peers -- turns        some
 *   npm run bench:peers -- --record     and keep the figures: see `recording.ts`
 */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { root } from "../../scripts/files.ts"
import { installIn } from "../../scripts/sdk.ts"
import { record } from "./recording.ts"
import type { RowFile } from "./rows.ts"
import { besidePeers } from "./summary.ts"
import { run } from "./running.ts"

const folder = "bench/peers"

const flags = ["--expose-gc", "--max-semi-space-size=64", "--disable-warning=ExperimentalWarning"]
const scripts: ReadonlyArray<RowFile> = [
  { name: "turns", flags },
  { name: "wire", flags },
  { name: "weight", flags },
  { name: "durable", flags }
]

if (!installIn(folder)) {
  process.stderr.write("could not install the peers: see the messages above; the network may be unreachable\n")
  process.exitCode = 1
} else {
  const { dependencies } = JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8"))
  const versions = Object.entries(dependencies).map((entry) => entry.join(" "))
  process.stdout.write(`Node ${process.version}; ${versions.join(", ")}\n`)
  const given = process.argv.slice(2)
  const names = given.filter((one) => !one.startsWith("--"))
  const files = scripts.filter(({ name }) => names.length === 0 || names.includes(name))
  const { broken, results } = run(files, [], "peers/src")
  process.stdout.write(`\n${besidePeers(results.rows)}\n`)
  if (given.includes("--record") && broken.length === 0) record(results)
  if (broken.length > 0) {
    process.stderr.write(`these did not come to their end: ${broken.join(", ")}\n`)
    process.exitCode = 1
  }
}
