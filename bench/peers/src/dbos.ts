/** Records steps with DBOS: `dbos.ts` and the URL of a database. */
import { DBOS } from "@dbos-inc/dbos-sdk"
import { Pool } from "pg"
import {
  idsOf,
  type Order,
  recorded,
  serve,
  type Sizes,
  tablesOf,
  textOf
} from "../../../tools/durable-lab/src/recorded.ts"

const [url = ""] = process.argv.slice(2)

const steps = DBOS.registerWorkflow(
  async (count: number) => {
    for (let step = 0; step < count; step++) await DBOS.runStep(async () => recorded, { name: "look" })
    return count
  },
  { name: "steps" }
)

DBOS.setConfig({ name: "bench", systemDatabaseUrl: url, systemDatabasePoolSize: 10, logLevel: "error" })
await DBOS.launch()
const pool = new Pool({ connectionString: url, max: 1 })

const query = async <A extends object>(text: string): Promise<ReadonlyArray<A>> => (await pool.query<A>(text)).rows

let count = 0
const record = async (order: Order): Promise<void> => {
  await Promise.all(
    idsOf(order).map(async (workflowID) => {
      const handle = await DBOS.startWorkflow(steps, { workflowID })(order.steps)
      await handle.getResult()
    })
  )
  count += order.runs * order.steps
}

const sizes = async (): Promise<Sizes> => {
  const [stored] = await query<{ count: number; bytes: number }>(
    `SELECT count(*)::int AS count, coalesce(sum(octet_length(o::text)), 0)::float8 AS bytes FROM dbos.operation_outputs o WHERE output LIKE '%${recorded}%'`
  )
  if (stored?.count !== count) throw new Error(`${stored?.count} of ${count} steps are stored`)
  let [text, disk] = [0, 0]
  for (const table of await query<{ name: string; disk: number }>(tablesOf)) {
    text += (await query<{ text: number }>(textOf(table.name)))[0]?.text ?? 0
    disk += table.disk
  }
  return { steps: stored.bytes, text, disk }
}

serve(record, sizes)
