/**
 * Durable runs, to look at: a run is started, and its process killed with SIGKILL in the middle of a tool and again in a wait before
 * another attempt; it waits for a person while there is no process at all; another process gets the answer. The ledger of what was
 * done to the world says that nothing was done twice.
 *
 *   npm run demo:durable
 *   npm run demo:durable -- --forge     with a second charge in the ledger, to see that it would be noticed
 *
 * It needs no server and no key: the database is PostgreSQL in WebAssembly, and its data are a folder.
 */
import { spawn } from "node:child_process"
import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { root } from "../../../scripts/files.ts"
import { folder } from "./folder.ts"

const say = (line: string) => process.stdout.write(`${line}\n`)

const started = performance.now()

/** One process, up to the line with which it is killed, or to its end. */
const play = (name: string, database: string, ledger: string, until: RegExp | undefined, word = ""): Promise<void> =>
  new Promise((resolve, reject) => {
    const args = [join(root, folder, "src/processes/clerk.ts"), database, ledger, name, word]
    const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] })
    let isKilled = false
    let rest = ""
    child.stdout.on("data", (chunk) => {
      const lines = `${rest}${String(chunk)}`.split("\n")
      rest = lines.pop() ?? ""
      for (const line of lines) {
        if (isKilled) return
        say(`${((performance.now() - started) / 1000).toFixed(1).padStart(5)} s  process ${name} | ${line}`)
        if (until?.test(line) !== true) continue
        isKilled = true
        child.kill("SIGKILL")
      }
    })
    child.on("error", reject)
    child.on("close", (code, signal) => {
      if (isKilled) say(`         process ${name} † SIGKILL`)
      if (isKilled ? signal === "SIGKILL" : code === 0) resolve()
      else reject(new Error(`process ${name} ended with ${signal ?? code}`))
    })
  })

/** What the ledger has to hold, and how often: it is written by four processes. */
const expected: ReadonlyArray<readonly [what: string, times: number]> = [
  ["model 1", 1],
  ["stock looked up", 1],
  ["model 2", 1],
  ["charge", 1],
  ["model 3", 1],
  ["ship, attempt 1", 1],
  ["ship, attempt 2", 1],
  ["model 4", 1],
  ["refund", 1],
  ["model 5", 1]
]

/** The idempotency key at the end of a line. */
const key = / [\da-f]{32}-\d+$/

/** Prints the ledger; whether nothing is missing, and nothing there twice. */
const judge = (ledger: string): boolean => {
  const lines = existsSync(ledger) ? readFileSync(ledger, "utf8").trimEnd().split("\n") : []
  say("\nthe ledger: what was done to the world, and by which process")
  for (const line of lines) say(`  ${line.replace(key, "")}`)
  let isRight = true
  for (const [what, times] of expected) {
    const count = lines.filter((line) => line.slice(2).replace(key, "") === what).length
    if (count === times) continue
    isRight = false
    say(`WRONG: '${what}' stands there ${count} times, and not ${times}`)
  }
  if (lines.length !== expected.length) {
    isRight = false
    say(`WRONG: ${lines.length} lines, and not ${expected.length}`)
  }
  return isRight
}

const main = async (): Promise<boolean> => {
  const temporary = mkdtempSync(join(tmpdir(), "kintsugi-durable-"))
  const ledger = join(temporary, "ledger")
  const database = join(temporary, "database")
  try {
    await play("1", database, ledger, /^stock is at work/)
    await play("2", database, ledger, /^Busy: retry in/)
    await play("3", database, ledger, /^the run waits/)
    say("         no process is at work: the run is in the database, and a person has the request")
    await play("4", database, ledger, undefined, "approve")
    if (process.argv.includes("--forge")) appendFileSync(ledger, "4 charge\n")
    const isRight = judge(ledger)
    if (isRight) say("four processes, one run: nothing was lost, and nothing was done twice")
    return isRight
  } finally {
    rmSync(temporary, { recursive: true, force: true })
  }
}

const help = `npm run demo:durable -- [--forge]

A run whose process is killed twice, and which then waits for a person without a process. It takes about 20 seconds and needs no server and no key.

  --forge   with a second charge in the ledger, to see that it would be noticed
`

if (process.argv.includes("--help")) process.stdout.write(help)
else process.exitCode = (await main()) ? 0 : 1
