/** Engines in processes of their own: who has a folder or a database, and what is left when one ends. */
import { type ChildProcessByStdio, spawn } from "node:child_process"
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { connect } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import type { Readable, Writable } from "node:stream"
import { afterEach, assert, beforeEach, describe, it } from "vitest"
import { root } from "../../../scripts/files.ts"
import { folder as lab } from "../src/folder.ts"
import { postgres, startPostgres } from "../src/postgres.ts"

let temporary = ""
const children = new Set<ChildProcessByStdio<Writable, Readable, null>>()

beforeEach(() => {
  temporary = mkdtempSync(join(tmpdir(), "kintsugi-engines-"))
})

afterEach(() => {
  for (const child of children) child.kill("SIGKILL")
  children.clear()
  rmSync(temporary, { recursive: true, force: true })
})

/** What a process says of its engine. */
interface Said {
  readonly port?: number
  readonly closed?: true
  readonly _tag?: string
  readonly message?: string
  readonly folder?: string
  readonly pid?: number
  readonly defect?: string
}

/** A process that begins the engine of a database. */
const begin = (database: string) => {
  const child = spawn(process.execPath, [join(root, lab, "src/processes/holder.ts"), database], {
    stdio: ["pipe", "pipe", "inherit"]
  })
  children.add(child)
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const next = async (): Promise<Said> => {
    for (;;) {
      const { done, value } = await lines.next()
      if (done === true) throw new Error("the process has ended")
      // what is logged is no JSON
      if (value.startsWith('{"')) return JSON.parse(value)
    }
  }
  const gone = new Promise<string | number | null>((resolve) =>
    child.once("close", (code, signal) => resolve(signal ?? code))
  )
  return {
    pid: child.pid ?? 0,
    next,
    gone,
    close: () => child.stdin.write("close\n"),
    kill: () => child.kill("SIGKILL")
  }
}

/** Whether a process listens there. */
const listens = (port = 0): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1")
    socket.once("error", () => resolve(false))
    socket.once("connect", () => {
      socket.destroy()
      resolve(true)
    })
  })

describe("an engine on PGlite", () => {
  it(
    "has its folder alone; a closed scope frees lock, port and worker, and a death frees the folder",
    { timeout: 120_000 },
    async () => {
      const folder = join(temporary, "runs")
      const lock = join(folder, "kintsugi.lock")
      const first = begin(folder)
      const { port } = await first.next()
      assert.isTrue(await listens(port))
      assert.strictEqual(JSON.parse(readFileSync(lock, "utf8")).pid, first.pid)
      const second = begin(folder)
      const refused = await second.next()
      assert.deepInclude(refused, { _tag: "FolderInUseError", folder, pid: first.pid })
      assert.strictEqual(
        refused.message,
        `Folder '${folder}' is in use by process ${first.pid}. End that process, or take another folder`
      )
      assert.strictEqual(await second.gone, 0)
      first.close()
      assert.deepStrictEqual(await first.next(), { closed: true })
      // nothing ends the process: it has no worker and no socket that would hold it
      assert.strictEqual(await first.gone, 0)
      assert.isFalse(existsSync(lock))
      assert.isFalse(await listens(port))
      const killed = begin(folder)
      assert.isAbove((await killed.next()).port ?? 0, 0)
      killed.kill()
      assert.strictEqual(await killed.gone, "SIGKILL")
      assert.strictEqual(JSON.parse(readFileSync(lock, "utf8")).pid, killed.pid)
      const last = begin(folder)
      assert.isAbove((await last.next()).port ?? 0, 0)
      assert.strictEqual(JSON.parse(readFileSync(lock, "utf8")).pid, last.pid)
    }
  )

  it("fails with the folder when that is no database, and leaves no lock", { timeout: 60_000 }, async () => {
    writeFileSync(join(temporary, "data"), "a file")
    const one = begin(temporary)
    const { _tag, message } = await one.next()
    assert.strictEqual(_tag, "SqlError")
    assert.include(message, `PGlite cannot open '${join(temporary, "data")}'`)
    assert.strictEqual(await one.gone, 0)
    assert.isFalse(existsSync(join(temporary, "kintsugi.lock")))
  })
})

const found = postgres.find()

it.skipIf(found === undefined)(
  "an engine on a server without a runner has the database alone, until its process dies",
  { timeout: 120_000 },
  async () => {
    const server = await startPostgres(found ?? "")
    try {
      const url = `postgres://postgres@127.0.0.1:${server.port}/postgres`
      const first = begin(url)
      assert.isDefined((await first.next()).port)
      const refused = await begin(url).next()
      assert.strictEqual(refused._tag, "SqlError")
      assert.include(refused.message, "Another process serves the runs of this database")
      first.kill()
      await first.gone
      const last = begin(url)
      assert.isDefined((await last.next()).port)
      last.close()
      assert.deepStrictEqual(await last.next(), { closed: true })
      assert.strictEqual(await last.gone, 0)
    } finally {
      await server.stop()
    }
  }
)
