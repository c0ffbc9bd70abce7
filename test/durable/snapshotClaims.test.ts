/** Which snapshots were resumed, in stores that outlive a process. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Agent, Budget, Recovery, Skill, Snapshot } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Durable, SnapshotClaims } from "@kintsugi/durable"
import { Cause, Context, Effect, Exit, Fiber, Layer, Schema } from "effect"
import { KeyValueStore, layerMemory, make as makeStore } from "effect/persistence/KeyValueStore"
import { SqlClient } from "effect/sql/SqlClient"
import { TestClock } from "effect/testing"
import { agentWith, calm, done, read, scripted } from "../_support/dialogue.ts"
import { deciding, outcomeOf, paying, snapshotOf } from "../_support/suspension.ts"
import { watched } from "./_support/engines.ts"
import { sqlite } from "./_support/sqlite.ts"

const { call, calls, make } = ScriptedModel

/** A database in a file, which is removed with the scope. */
const file = Effect.map(
  Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "kintsugi-claims-"))),
    (folder) => Effect.sync(() => rmSync(folder, { recursive: true }))
  ),
  (folder) => join(folder, "claims.db")
)

/** The claims of one process that has the database open. */
const processOn = (path: string, options?: Parameters<typeof SnapshotClaims.layerSql>[0]) =>
  Effect.map(Layer.build(SnapshotClaims.layerSql(options).pipe(Layer.provideMerge(sqlite(path)))), (context) => ({
    claims: Context.get(context, Snapshot.Claims),
    sql: Context.get(context, SqlClient)
  }))

describe("a table of claims", () => {
  it.effect("gives each snapshot to one of many claimants, of several processes at once [P1506]", () =>
    Effect.gen(function* () {
      const path = yield* file
      const processes = yield* Effect.forEach([1, 2, 3], () => processOn(path))
      const claiming = ["s1", "s2"].flatMap((snapshot) =>
        processes.flatMap(({ claims }, index) =>
          Array.from({ length: 20 }, (_, n) => {
            const claimant = `${index}/${n}`
            return Effect.map(claims.claim({ snapshot, claimant }), (isMine) =>
              isMine ? [{ snapshot, claimant }] : []
            )
          })
        )
      )
      const owners = (yield* Effect.all(claiming, { concurrency: "unbounded" })).flat()
      assert.deepStrictEqual(owners.map(({ snapshot }) => snapshot).toSorted(), ["s1", "s2"])
      const later = yield* processOn(path)
      for (const owner of owners) {
        assert.isTrue(yield* later.claims.claim(owner))
        assert.isFalse(yield* later.claims.claim({ ...owner, claimant: "other" }))
      }
    })
  )

  it.effect("keeps when a snapshot was first claimed, under a name that can be chosen [P1506]", () =>
    Effect.gen(function* () {
      const path = yield* file
      const { claims, sql } = yield* processOn(path, { table: "resumed" })
      for (const at of [5000, 6000]) {
        yield* TestClock.setTime(at)
        yield* claims.claim({ snapshot: "s'1", claimant: "a" })
      }
      const rows = yield* sql`SELECT id, claimant, claimed_at FROM resumed`
      assert.deepStrictEqual(
        rows.map((row) => ({ ...row })),
        [{ id: "s'1", claimant: "a", claimed_at: 5000 }]
      )
    })
  )

  it.effect("that cannot be reached lets no run go on [P1506]", () =>
    Effect.gen(function* () {
      const { claims, sql } = yield* processOn(yield* file)
      yield* sql`DROP TABLE kintsugi_snapshot_claims`
      const exit = yield* Effect.exit(claims.claim({ snapshot: "s", claimant: "a" }))
      assert.isTrue(Exit.hasDies(exit))
    })
  )
})

describe("a key-value store of claims", () => {
  it.effect("gives each snapshot to one of many claimants of its layer, and knows it after a restart [P1506]", () =>
    Effect.gen(function* () {
      const entries = new Map<string, string>()
      // a store that takes its time
      const slow = Layer.succeed(
        KeyValueStore,
        makeStore({
          get: (key) => Effect.as(calm, key).pipe(Effect.map((name) => entries.get(name))),
          getUint8Array: () => Effect.die("not needed"),
          set: (key, value) =>
            Effect.andThen(
              calm,
              Effect.sync(() => void entries.set(key, String(value)))
            ),
          remove: () => Effect.die("not needed"),
          clear: Effect.die("not needed"),
          size: Effect.die("not needed"),
          keys: Effect.die("not needed")
        })
      )
      const started = Effect.map(Layer.build(SnapshotClaims.layerKeyValueStore.pipe(Layer.provide(slow))), (context) =>
        Context.get(context, Snapshot.Claims)
      )
      const { claim } = yield* started
      const claiming = Array.from({ length: 20 }, (_, n) => claim({ snapshot: "s", claimant: `${n}` }))
      const mine = yield* Effect.all(claiming, { concurrency: "unbounded" })
      assert.strictEqual(mine.filter((isMine) => isMine).length, 1)
      const owner = `${mine.indexOf(true)}`
      assert.deepStrictEqual([...entries], [["kintsugi/claim/s", owner]])
      const restarted = yield* started
      assert.isFalse(yield* restarted.claim({ snapshot: "s", claimant: "other" }))
      assert.isTrue(yield* restarted.claim({ snapshot: "s", claimant: owner }))
    })
  )

  it.effect("refuses the second resumption [P1506]", () =>
    Effect.gen(function* () {
      const { runs, tool } = paying()
      const agent = agentWith(tool)
      const model = yield* make(calls(call("pay", { cents: 5 }, "c1")), done)
      const from = yield* snapshotOf(yield* outcomeOf(agent, "go", model))
      yield* outcomeOf(Agent.resume(agent), deciding(from), model)
      const second = yield* Effect.flip(outcomeOf(Agent.resume(agent), deciding(from), model))
      assert.deepInclude(second, { reason: "already-resumed" })
      assert.deepStrictEqual(runs, [5])
    }).pipe(Effect.provide(SnapshotClaims.layerKeyValueStore), Effect.provide(layerMemory))
  )
})

for (const isForgetful of [false, true]) {
  const how = isForgetful ? ", however often it is replayed" : ""
  // Finds out nothing of its own: its subject is the claimant that core names, the same in each replay
  it.effect(`a durable run that resumes a snapshot does not refuse itself${how} [P1506]`, () =>
    Effect.gen(function* () {
      const { claims } = yield* processOn(yield* file)
      const claimed: Array<string> = []
      const counted: Snapshot.Claims = {
        claim: (claim) =>
          Effect.tap(claims.claim(claim), (isMine) => Effect.sync(() => claimed.push(`${claim.claimant} ${isMine}`)))
      }
      const { runs, tool } = scripted("look", Effect.succeed("1"), Effect.succeed("2"))
      const agent = Agent.make("worker", {
        budget: { maxTurns: 1 },
        skills: [Skill.make("work", { description: "Works.", tools: [tool] })]
      }).pipe(
        Agent.toolDefaults({ orElse: Recovery.tell() }),
        Agent.onBudgetExceeded(() => Budget.checkpoint)
      )
      const model = yield* make(calls(call("look", {}, "c1")), calls(call("look", {}, "c2")), done)
      const from = yield* snapshotOf(yield* outcomeOf(agent, "go", model))
      assert.strictEqual(runs.length, 1)
      const outer = Agent.deterministic("outer", (_word: string) =>
        Agent.resume(agent)({ from, budget: { maxTurns: 9 } })
      )
      const durable = Durable.workflow(outer, { name: "outer", input: Schema.String, output: Schema.String })
      const engine = yield* watched(isForgetful)
      const served = durable.layer.pipe(
        Layer.provide(model.layer),
        Layer.provide(Layer.succeed(Snapshot.Claims, counted)),
        Layer.provideMerge(engine.layer)
      )
      const context = yield* Layer.build(served)
      const executing = durable.workflow.execute({ id: "one", input: "go" })
      const fiber = yield* Effect.forkChild(Effect.exit(Effect.provideContext(executing, context)))
      for (let i = 0; i < 100 && fiber.pollUnsafe() === undefined; i++) yield* calm
      const exit = yield* Fiber.join(fiber)
      assert(Exit.isSuccess(exit), Exit.isFailure(exit) ? Cause.pretty(exit.cause) : "")
      assert.strictEqual(exit.value, "done")
      assert.strictEqual(runs.length, 2)
      assert.deepStrictEqual(read(model), ["result: 1", "result: 2"])
      assert.strictEqual(new Set(claimed).size, 1)
      assert.match(claimed[0] ?? "", / true$/)
      assert.strictEqual(claimed.length > 1, isForgetful)
    })
  )
}
