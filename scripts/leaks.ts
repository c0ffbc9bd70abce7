/**
 * What each feature leaves behind after 10,000 uses: fibers, timers, listeners, finalizers, resources of tools, entries, memory.
 *
 *   npm run leaks                       all features
 *   npm run leaks -- "sub-agent"        those whose names have a part
 *   npm run leaks -- --uses=2000        with fewer uses
 *
 * The features stand in `test/leaks/_support/features`.
 */
import { spawn } from "node:child_process"
import { join } from "node:path"
import { createInterface } from "node:readline"
import type { Left } from "../test/leaks/_support/measure.ts"
import { root } from "./files.ts"

const given = process.argv.slice(2)
const uses = given.find((option) => option.startsWith("--uses="))?.slice("--uses=".length) ?? "10000"
const names = given.filter((option) => !option.startsWith("--"))

const program = join(root, "test/leaks/_support/main.ts")
const child = spawn(process.execPath, ["--expose-gc", program, uses, ...names], {
  cwd: root,
  stdio: ["ignore", "pipe", "inherit"]
})

const say = (line: string) => process.stdout.write(`${line}\n`)
let measured = 0
let leaking = 0
let ended: number | undefined
for await (const line of createInterface(child.stdout)) {
  // the log of the library stands between
  if (!line.startsWith("{")) continue
  const found: Left | { readonly ended: number } = JSON.parse(line)
  if ("ended" in found) {
    ended = found.ended
    continue
  }
  measured++
  if (found.leaks.length > 0) leaking++
  const [one, other] = found.bytes.map((each) => Math.round(each))
  say(`${found.name}: ${found.uses} uses, ${one} and ${other} bytes each, ${found.seconds.toFixed(1)} s`)
  for (const leak of found.leaks) say(`  leaks ${leak}`)
}
const hasEnded = ended !== undefined && ended === measured && measured > 0
if (!hasEnded) say("it did not end")
say(`${measured} features, ${leaking} leak`)

process.exitCode = hasEnded && leaking === 0 ? 0 : 1
