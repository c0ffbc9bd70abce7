/**
 * Plays twenty scenarios with real models, records them without secrets, and compares the form of the answers with the last record.
 *
 *   npm run providers:live
 *   npm run providers:live -- --provider=openai --model=gpt-5.6-terra
 *
 * `--help` lists the options. It costs money; nothing else in this repository runs it.
 */
import { Effect } from "effect"
import { join } from "node:path"
import { root } from "../../../scripts/files.ts"
import { run } from "./program.ts"
import { help, parse, type Settings, Usage } from "./settings.ts"

const settings = (): Settings | undefined => {
  try {
    return parse(process.argv.slice(2), join(root, "tools/live/records"))
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
      progress: (text) => void process.stderr.write(text)
    })
  )
}
