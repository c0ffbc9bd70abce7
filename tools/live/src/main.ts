/**
 * Plays twenty scenarios with real models, records them without secrets, and compares the form of the answers with the last record.
 *
 *   npm run providers:live
 *   npm run providers:live -- --provider=openai --model=gpt-5.6-terra
 *
 * `--help` lists the options. It costs money; nothing else in this repository runs it.
 */
import { join } from "node:path"
import { main } from "../../../scripts/commandLine.ts"
import { root } from "../../../scripts/files.ts"
import { run } from "./program.ts"
import { parse } from "./settings.ts"

await main(
  (parameters) => parse(parameters, join(root, "tools/live/records")),
  (settings) =>
    run(settings, {
      write: (text) => void process.stdout.write(text),
      progress: (text) => void process.stderr.write(text)
    })
)
