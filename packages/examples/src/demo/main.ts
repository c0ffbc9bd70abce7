/** `npm run demo`: an agent counts the keys of a JSON object, and recovers from each failure on the way. */
import process from "node:process"
import { parse, type Settings } from "./cli.ts"

/** As shells report a program that was stopped from the keyboard. */
const interruptedExitCode = 130

const start = async (settings: Settings): Promise<void> => {
  // Help and complaints need none of this
  const [Effect, Exit, { run }] = await Promise.all([
    import("effect/Effect"),
    import("effect/Exit"),
    import("./program.ts")
  ])
  const stop = new AbortController()
  for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => stop.abort())
  process.stdout.on("error", () => stop.abort())
  const running = run(settings, {
    // npm starts scripts in the folder of the package, wherever it was called
    folder: process.env.npm_lifecycle_event === "demo" ? (process.env.INIT_CWD ?? process.cwd()) : process.cwd(),
    stdin: process.stdin,
    write: (text) => void process.stdout.write(text),
    complain: (text) => void process.stderr.write(text),
    width: process.stdout.columns,
    isColored: process.stdout.isTTY && !process.env.NO_COLOR && process.stdout.hasColors()
  })
  const exit = await Effect.runPromiseExit(running, { signal: stop.signal })
  process.exitCode = Exit.isSuccess(exit) ? exit.value : interruptedExitCode
}

// a reader of the output, help included, may close the pipe early
process.stdout.on("error", () => undefined)
const parsed = parse(process.argv.slice(2))
if (parsed.type === "exit") process.exitCode = parsed.code
else await start(parsed.settings)
