/** Claims of snapshots in the databases that have statements of their own. */
import { assert, it } from "@effect/vitest"
import { Snapshot } from "@kintsugi/core"
import { SnapshotClaims } from "@kintsugi/durable"
import { Cause, Context, Effect, Exit, Layer } from "effect"
import { SqlClient } from "effect/sql/SqlClient"
import { ConnectionError, SqlError, UniqueViolation } from "effect/sql/SqlError"

type Dialect = "mssql" | "mysql" | "clickhouse"

/** A client of this dialect, whose statements are answered by what they begin with. */
const clientOf = (dialect: Dialect, answers: (statement: string) => Effect.Effect<unknown, SqlError>) => {
  const client = (strings: TemplateStringsArray | string) =>
    typeof strings === "string" ? strings : Effect.suspend(() => answers(strings.join("?").trim()))
  const more = {
    withoutTransforms: () => made,
    onDialectOrElse: (options: Readonly<Record<string, () => unknown>>) =>
      (options[dialect] ?? options["orElse"] ?? assert.fail(dialect))()
  }
  // a client with only what the claims use
  const made = Object.assign(client, more) as unknown as SqlClient
  return made
}

const claimed = (client: SqlClient) =>
  Effect.gen(function* () {
    const services = yield* Layer.build(Layer.provide(SnapshotClaims.layerSql(), Layer.succeed(SqlClient, client)))
    return yield* Context.get(services, Snapshot.Claims).claim({ snapshot: "s", claimant: "a" })
  }).pipe(Effect.scoped, Effect.exit)

it.effect.each(["mssql", "mysql"] as const)("%s has its own statements [P1506]", (dialect) =>
  Effect.gen(function* () {
    const sent: Array<string> = []
    const client = clientOf(dialect, (statement) => {
      sent.push(statement.replaceAll(/\s+/g, " "))
      return Effect.succeed([{ claimant: "a" }])
    })
    assert.deepStrictEqual(yield* claimed(client), Exit.succeed(true))
    const [creating, taking, reading] = sent
    assert.match(creating ?? "", dialect === "mssql" ? /^IF NOT EXISTS .*NVARCHAR/ : /^CREATE TABLE IF NOT EXISTS/)
    assert.match(taking ?? "", dialect === "mssql" ? /^INSERT INTO/ : /^INSERT IGNORE INTO/)
    assert.match(reading ?? "", /^SELECT claimant/)
  })
)

it.effect("on SQL Server, the key of another claim is no failure, and any other failure is one [P1506]", () =>
  Effect.gen(function* () {
    const refusing = (reason: SqlError["reason"]) =>
      clientOf("mssql", (statement) =>
        statement.startsWith("INSERT") ? Effect.fail(new SqlError({ reason })) : Effect.succeed([{ claimant: "b" }])
      )
    const taken = new UniqueViolation({ cause: "taken", constraint: "id" })
    assert.deepStrictEqual(yield* claimed(refusing(taken)), Exit.succeed(false))
    const lost = yield* claimed(refusing(new ConnectionError({ cause: "lost" })))
    assert.isTrue(Exit.isFailure(lost) && Cause.hasDies(lost.cause))
  })
)

it.effect("ClickHouse is refused by name [P1506]", () =>
  Effect.gen(function* () {
    const exit = yield* claimed(clientOf("clickhouse", () => Effect.succeed([])))
    assert(Exit.isFailure(exit))
    const defect = Cause.squash(exit.cause)
    assert.instanceOf(defect, TypeError)
    assert.include(String(defect), "SnapshotClaims: ClickHouse has no unique keys")
  })
)
