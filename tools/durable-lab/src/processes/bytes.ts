/** What a run takes in the tables of the engine. */
import { Effect } from "effect"
import * as SqlClient from "effect/sql/SqlClient"

/** The steps of one turn of a run, in bytes: messages and replies, as they are stored before PostgreSQL compresses anything. */
export const bytesOf = (executionId: string, turn: number) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const text = "coalesce(m.message_id, '') || coalesce(m.payload, '') || coalesce(m.headers, '')"
    const message = sql.literal(`octet_length(${text})`)
    // the outermost run is the first part of the name of each of its steps
    const step = `^\\{"name":"[^/"]*/${turn}/`
    const [row] = yield* sql<{ readonly bytes: number }>`
      SELECT coalesce(sum(${message} + coalesce(
        (SELECT sum(octet_length(r.payload)) FROM cluster_replies r WHERE r.request_id = m.id), 0)), 0)::int AS bytes
      FROM cluster_messages m WHERE m.entity_id = ${executionId} AND m.tag = 'activity' AND m.payload ~ ${step}`
    return row?.bytes ?? 0
  })
