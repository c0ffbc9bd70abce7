/** What each feature leaves behind after 10,000 uses. The features stand in `test/leaks/_support/features`. `--help` lists the options. */
import { spawn } from "node:child_process"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { parseArgs } from "node:util"
import { Effect } from "effect"
import type { Left } from "../test/leaks/_support/measure.ts"
import { count, Help, main, text, Usage } from "./commandLine.ts"
import { root } from "./files.ts"

interface Settings {
  readonly uses: number
  readonly names: ReadonlyArray<string>
}

const help = `npm run leaks -- [part of a name …] [options]

Uses each feature many times, and counts what is left: fibers, timers, listeners, finalizers, resources of tools, entries, memory.

  npm run leaks -- "sub-agent"        those whose names have a part

  --uses=N    how often each is used (10000)
`

const parse = (parameters: ReadonlyArray<string>): Settings => {
  if (parameters.includes("--help")) throw new Help(help)
  try {
    const options = { uses: { ...text, default: "10000" } } as const
    const { positionals, values } = parseArgs({ args: [...parameters], options, allowPositionals: true })
    return { uses: count("uses", values.uses), names: positionals }
  } catch (error) {
    if (error instanceof Usage) throw error
    throw new Usage(error instanceof Error ? error.message : String(error), { cause: error })
  }
}

const program = join(root, "test/leaks/_support/main.ts")
const say = (line: string) => process.stdout.write(`${line}\n`)

/** The exit code: 0 if all were measured, and none leaks. */
const measure = async ({ names, uses }: Settings): Promise<number> => {
  const child = spawn(process.execPath, ["--expose-gc", program, String(uses), ...names], {
    cwd: root,
    stdio: ["ignore", "pipe", "inherit"]
  })
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
  return hasEnded && leaking === 0 ? 0 : 1
}

await main(parse, (settings) => Effect.promise(() => measure(settings)))
