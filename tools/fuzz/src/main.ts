/**
 * Fuzzes one target, guided by coverage: inputs that fail are written to `.cache/fuzz/<target>/findings`, those that ran something
 * new to `.cache/fuzz/<target>/corpus`, from where the next run goes on. Exits with 1 where something fails.
 *
 *   npm run fuzz -- <target> [seconds] [seed]
 *   npm run fuzz -- wire [group]
 */
import { createHash } from "node:crypto"
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { root } from "../../../scripts/files.ts"
import { Coverage } from "./covering.ts"
import { fuzz } from "./fuzzing.ts"
import { targets } from "./targets.ts"
import { wire } from "./wire/main.ts"

const say = (line: string) => process.stdout.write(`${line}\n`)

const [name = "", seconds = "60", seed = "4711"] = process.argv.slice(2)
const target = targets[name]

const numbers = [Number(seconds), Number(seed)]

if (name === "wire") {
  const command = [process.execPath, ...process.execArgv, process.argv[1] ?? ""]
  process.exit(await wire(command, process.argv.slice(3)))
} else if (target === undefined || numbers.some((number) => !(number >= 0))) {
  say(`usage: npm run fuzz -- <target> [seconds] [seed]\ntargets: ${Object.keys(targets).join(" ")}; and wire [group]`)
  process.exitCode = 2
} else {
  const folder = (kind: string): string => {
    const path = join(root, ".cache", "fuzz", name, kind)
    mkdirSync(path, { recursive: true })
    return path
  }
  const [corpus, findings] = [folder("corpus"), folder("findings")]
  const keep = (path: string, input: string): string => {
    const file = join(path, `${createHash("sha256").update(input).digest("hex").slice(0, 16)}.txt`)
    if (!existsSync(file)) writeFileSync(file, input)
    return file
  }
  say(
    `${name}: ${seconds} s, seed ${seed}; seconds, executions, executions per second, blocks run of those seen, corpus`
  )
  const end = fuzz({
    target,
    before: readdirSync(corpus).map((file) => readFileSync(join(corpus, file), "utf8")),
    seconds: Number(seconds),
    seed: Number(seed),
    coverage: new Coverage(),
    onAdded: (input) => keep(corpus, input),
    onFinding: ({ input, message }) => say(`\n${JSON.stringify(input)}\n${message}\n${keep(findings, input)}\n`),
    onProgress: ({ corpus, covered, executions, total, seconds }) =>
      say(
        [
          seconds.toFixed(0).padStart(5),
          String(executions).padStart(9),
          (executions / seconds).toFixed(0).padStart(6),
          `${covered}/${total}`.padStart(10),
          String(corpus).padStart(5)
        ].join(" ")
      )
  })
  say(`${name}: ${end.findings} findings`)
  if (end.findings > 0) process.exitCode = 1
}
