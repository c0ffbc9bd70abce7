/**
 * Does recovery pay off? Breaks calls, tools and replies in known ways, and counts how often each policy makes up for it, and at what
 * cost: with a stand-in model offline, or with a real one.
 *
 *   npm run eval
 *   npm run eval -- --runs=100 --seed=7 --corrects=0.5
 *   npm run eval -- --live --provider=openai --model=gpt-5.6-terra --max-tokens=100000
 *
 * `--help` lists the options, `--write` writes `docs/eval.md`.
 */
import { Effect } from "effect"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { root } from "../../../scripts/files.ts"
import { run } from "./program.ts"
import { help, parse, type Settings, Usage } from "./settings.ts"

const settings = (): Settings | undefined => {
  try {
    return parse(process.argv.slice(2))
  } catch (error) {
    if (!(error instanceof Usage)) throw error
    const isHelp = error.message === help
    process[isHelp ? "stdout" : "stderr"].write(isHelp ? help : `error: ${error.message}\n(--help lists the options)\n`)
    process.exitCode = isHelp ? 0 : 2
    return undefined
  }
}

const given = settings()
if (given !== undefined) {
  process.exitCode = await Effect.runPromise(
    run(given, {
      write: (text) => void process.stdout.write(text),
      complain: (text) => void process.stderr.write(text),
      progress: (text) => void process.stderr.write(text),
      keep: (page) => writeFileSync(join(root, "docs/eval.md"), page),
      date: new Date().toISOString().slice(0, 10)
    })
  )
}
