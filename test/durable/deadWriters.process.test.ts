/** A reader in one process of a run in another one, which is killed while its model writes. */
import { type ChildProcessByStdio, spawn } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import type { Readable, Writable } from "node:stream"
import { assert, it } from "vitest"
import { root } from "../../scripts/files.ts"

type Child = ChildProcessByStdio<Writable, Readable, null>

/** A process, and the lines that it tells. */
const begin = (...args: ReadonlyArray<string>) => {
  const program = join(root, "test/durable/_support/processes/poem.ts")
  const child: Child = spawn(process.execPath, [program, ...args], {
    stdio: ["pipe", "pipe", "inherit"],
    timeout: 20_000
  })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const next = async () => {
    for (;;) {
      const { done, value } = await lines.next()
      if (done === true) throw new Error("the process has ended")
      // what is logged is no JSON
      if (value.startsWith("{")) return JSON.parse(value)
    }
  }
  const gone = new Promise<string | number | null>((resolve) =>
    child.once("close", (code, signal) => resolve(signal ?? code))
  )
  return { child, next, gone }
}

interface Event {
  readonly type: string
  readonly text?: string
}

const shown = (events: ReadonlyArray<Event>): string => {
  let text = ""
  for (const event of events) {
    if (event.type === "text-delta") text += event.text
    if (event.type === "attempt-discarded") text = text.slice(0, -(event.text?.length ?? 0))
  }
  return text
}

it(
  "a reader has the first word while the model holds back the last one; kill -9 and another process retract it [P1371 P1541 P1543]",
  { timeout: 25_000 },
  async () => {
    const folder = mkdtempSync(join(tmpdir(), "kintsugi-poem-"))
    const file = join(folder, "runs.db")
    const writer = begin(file, "writes")
    let reader: ReturnType<typeof begin> | undefined
    try {
      const { id } = await writer.next()
      reader = begin(file, "reads", id)
      const events: Array<Event> = []
      while (events.at(-1)?.type !== "text-delta") events.push(await reader.next())
      // the model of the other process says nothing more, ever
      assert.strictEqual(writer.child.exitCode, null)
      assert.strictEqual(shown(events), "roses are ")
      writer.child.kill("SIGKILL")
      assert.strictEqual(await writer.gone, "SIGKILL")
      reader.child.stdin.write("go on\n")
      let line = await reader.next()
      for (; line.all === undefined; line = await reader.next()) events.push(line)
      const types = events.map(({ type }) => type)
      assert.deepStrictEqual(types.slice(0, 5), [
        "run-start",
        "turn-start",
        "model-start",
        "text-delta",
        "attempt-discarded"
      ])
      assert.strictEqual(types.at(-1), "run-completed")
      assert.strictEqual(shown(events), "roses are red")
      assert.deepStrictEqual(line.all, events)
      assert.strictEqual(await reader.gone, 0)
    } finally {
      writer.child.kill("SIGKILL")
      reader?.child.kill("SIGKILL")
      rmSync(folder, { recursive: true, force: true })
    }
  }
)
