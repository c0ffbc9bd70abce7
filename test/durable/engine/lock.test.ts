import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { syncBuiltinESMExports } from "node:module"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, it } from "@effect/vitest"
import { Effect, Exit, Scope } from "effect"
import { FolderInUseError } from "../../../packages/durable/src/engine/errors.ts"
import * as Lock from "../../../packages/durable/src/engine/lock.ts"
import { vi } from "vitest"

const lock = (folder: string) => Lock.lock(folder, FolderInUseError.make)

const temporary = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "kintsugi-lock-"))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
)

const held = (folder: string) => JSON.parse(readFileSync(join(folder, "kintsugi.lock"), "utf8"))

/** No process has so large an id. */
const noProcess = 2 ** 30

it.effect("a folder is made and taken until the scope closes, and leaves no file behind", () =>
  Effect.gen(function* () {
    const folder = join(yield* temporary, "a", "b")
    const scope = yield* Scope.make()
    yield* Scope.provide(lock(folder), scope)
    assert.strictEqual(held(folder).pid, process.pid)
    // the boot of the machine, and when the process began
    if (existsSync("/proc/self/stat")) assert.match(held(folder).since, /^[0-9a-f-]{36}\/\d+$/)
    assert.deepStrictEqual(readdirSync(folder), ["kintsugi.lock"])
    yield* Scope.close(scope, Exit.void)
    assert.deepStrictEqual(readdirSync(folder), [])
  })
)

it.effect("a second one fails with the folder and the process, and the first keeps it", () =>
  Effect.gen(function* () {
    const folder = yield* temporary
    yield* lock(folder)
    const error = yield* Effect.flip(Effect.scoped(lock(folder)))
    assert.instanceOf(error, FolderInUseError)
    const { code, isRetryable, message } = error
    assert.deepInclude(error, { folder, pid: process.pid })
    assert.deepStrictEqual([code, isRetryable], ["KINTSUGI-DURABLE-FOLDER-IN-USE", true])
    // its tag is its name
    assert.strictEqual(error._tag, error.constructor.name)
    assert.strictEqual(
      message,
      `Folder '${folder}' is in use by process ${process.pid}. End that process, or take another folder`
    )
    assert.isTrue(existsSync(join(folder, "kintsugi.lock")))
  })
)

it.effect("the lock of a dead process is taken over, of many at once by one", () =>
  Effect.gen(function* () {
    const folder = yield* temporary
    writeFileSync(join(folder, "kintsugi.lock"), JSON.stringify({ pid: noProcess, since: "" }))
    const exits = yield* Effect.forEach(Array.from({ length: 8 }), () => Effect.exit(lock(folder)), {
      concurrency: "unbounded"
    })
    assert.strictEqual(exits.filter(Exit.isSuccess).length, 1)
    assert.strictEqual(held(folder).pid, process.pid)
    assert.deepStrictEqual(readdirSync(folder), ["kintsugi.lock"])
  })
)

/** Does something in the moment between the look whether the holder of a lock lives, and the answer that it is dead. */
const whileDying = (act: () => void) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const looks = vi.spyOn(process, "kill").mockImplementation(() => {
        looks.mockReturnValue(true)
        act()
        throw Object.assign(new Error("no such process"), { code: "ESRCH" })
      })
      syncBuiltinESMExports()
      return looks
    }),
    (looks) =>
      Effect.sync(() => {
        looks.mockRestore()
        syncBuiltinESMExports()
      })
  )

it.effect("a process that takes the lock of a dead one a moment earlier keeps it", () =>
  Effect.gen(function* () {
    const folder = yield* temporary
    const file = join(folder, "kintsugi.lock")
    const faster = JSON.stringify({ pid: 12, since: "" })
    writeFileSync(file, JSON.stringify({ pid: noProcess, since: "" }))
    yield* whileDying(() => writeFileSync(file, faster))
    const error = yield* Effect.flip(Effect.scoped(lock(folder)))
    assert.deepInclude(error, { _tag: "FolderInUseError", pid: 12 })
    assert.deepStrictEqual(readdirSync(folder), ["kintsugi.lock"])
    assert.strictEqual(readFileSync(file, "utf8"), faster)
  })
)

it.effect("the lock of a dead process that cannot be moved away fails with the folder", () =>
  Effect.gen(function* () {
    const folder = yield* temporary
    writeFileSync(join(folder, "kintsugi.lock"), JSON.stringify({ pid: noProcess, since: "" }))
    yield* whileDying(() => {
      const own = readdirSync(folder).find((name) => name !== "kintsugi.lock")
      mkdirSync(join(folder, `${own}.dead`))
    })
    const error = yield* Effect.flip(Effect.scoped(lock(folder)))
    assert.strictEqual(error._tag, "SqlError")
    assert.include(error.message, `PGlite cannot open '${folder}'`)
  })
)

it.effect("a process that has got the id of a dead one is not taken for it", () =>
  Effect.gen(function* () {
    const folder = yield* temporary
    yield* Effect.scoped(
      Effect.gen(function* () {
        yield* lock(folder)
        const { since } = held(folder)
        // where the system does not tell when a process began, its id is all there is to know
        if (since === "") return
        writeFileSync(join(folder, "kintsugi.lock"), JSON.stringify({ pid: process.pid, since: `${since}0` }))
        yield* Effect.scoped(lock(folder))
      })
    )
  })
)

it.effect("a living process that did not say when it began has its folder", () =>
  Effect.gen(function* () {
    const folder = yield* temporary
    const text = JSON.stringify({ pid: process.pid, since: "" })
    writeFileSync(join(folder, "kintsugi.lock"), text)
    assert.instanceOf(yield* Effect.flip(Effect.scoped(lock(folder))), FolderInUseError)
    assert.strictEqual(readFileSync(join(folder, "kintsugi.lock"), "utf8"), text)
  })
)

it.effect("a folder that cannot be made, and one whose lock is no file, fail with the folder", () =>
  Effect.gen(function* () {
    const folder = yield* temporary
    const file = join(folder, "file")
    writeFileSync(file, "")
    mkdirSync(join(folder, "kintsugi.lock"))
    for (const [path, code] of [
      [join(file, "folder"), "ENOTDIR"],
      [folder, "EISDIR"]
    ] as const) {
      const error = yield* Effect.flip(Effect.scoped(lock(path)))
      assert(error._tag === "SqlError")
      assert.strictEqual(error.reason.operation, "open")
      assert.include(error.message, `PGlite cannot open '${path}': ${code}`)
    }
    // and leave no file of their own behind
    assert.deepStrictEqual(readdirSync(folder).toSorted(), ["file", "kintsugi.lock"])
  })
)
