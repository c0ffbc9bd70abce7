/** What a process with an engine is asked to record, and what it answers: see `bench/peers/src/durable.ts`. */

/** So many runs at once, each of so many steps, which record a text of 200 bytes. */
export interface Order {
  /** No other order has it. */
  readonly prefix: string
  readonly runs: number
  readonly steps: number
}

/** Bytes: of the rows of steps alone and of all rows, as text, and of tables and indexes on disk. */
export interface Sizes {
  readonly steps: number
  readonly text: number
  readonly disk: number
}

export const recorded = "x".repeat(200)

export const idsOf = ({ prefix, runs }: Order): ReadonlyArray<string> =>
  Array.from({ length: runs }, (_, index) => `${prefix}-${index}`)

/** The statements for `Sizes`: the tables with what they take, and the text of one. */
export const tablesOf = `SELECT quote_ident(schemaname) || '.' || quote_ident(relname) AS name,
  pg_total_relation_size(relid)::float8 AS disk FROM pg_stat_user_tables`

export const textOf = (table: string): string =>
  `SELECT coalesce(sum(octet_length(t::text)), 0)::float8 AS text FROM ${table} t`

/** Answers orders, one after the other; any other message asks for the sizes. */
export const serve = (record: (order: Order) => Promise<void>, sizes: () => Promise<Sizes>): void => {
  process.on("message", async (order: Order | "sizes") => {
    if (order === "sizes") return process.send?.(await sizes())
    const start = performance.now()
    const before = process.cpuUsage()
    await record(order)
    const { system, user } = process.cpuUsage(before)
    return process.send?.({ wall: performance.now() - start, cpu: (user + system) / 1000 })
  })
  process.once("disconnect", () => process.exit())
  process.send?.("ready")
}
