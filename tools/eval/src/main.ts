/**
 * Does recovery pay off? Breaks calls, tools and replies in known ways, and counts how often each policy makes up for it, and at what
 * cost: with a stand-in model offline, or with a real one.
 *
 *   npm run eval
 *   npm run eval -- --runs=100 --seed=7 --corrects=0.5
 *   npm run eval -- --live --provider=openai --model=gpt-5.6-terra --max-tokens=100000
 *
 * `--help` lists the options, `--write` writes `docs/reports/eval.md`.
 */
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { main } from "../../../scripts/commandLine.ts"
import { root } from "../../../scripts/files.ts"
import { run } from "./program.ts"
import { parse } from "./settings.ts"

await main(parse, (settings) =>
  run(settings, {
    write: (text) => void process.stdout.write(text),
    complain: (text) => void process.stderr.write(text),
    progress: (text) => void process.stderr.write(text),
    keep: (page) => writeFileSync(join(root, "docs/reports/eval.md"), page),
    date: new Date().toISOString().slice(0, 10)
  })
)
