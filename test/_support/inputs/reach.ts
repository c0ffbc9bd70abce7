/** Which functions that count as reached no measured function calls, by the counters of the engine. */
import { Session } from "node:inspector/promises"
import { entriesOf } from "../../../scripts/exports.ts"
import { read } from "../../../scripts/files.ts"
import type { Entry } from "./entry.ts"

/** Calls each measured function once on each of its families, and names the functions that were never called. */
export const unreached = async (
  entries: ReadonlyArray<readonly [table: string, id: string, entry: Entry]>
): Promise<ReadonlyArray<string>> => {
  const session = new Session()
  session.connect()
  await session.post("Profiler.enable")
  await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false })
  for (const [, id, entry] of entries) {
    if (entry.kind !== "grows") continue
    for (const { family, prepare } of entry.families) {
      try {
        await prepare(1024)()
      } catch (error) {
        process.stderr.write(`${id}, ${family}: ${String(error)}\n`)
      }
    }
  }
  const { result } = await session.post("Profiler.takePreciseCoverage")
  session.disconnect()
  /** Where the functions stand that were called; blanks stand where the types were. */
  const called = new Map(
    result.flatMap(({ functions, url }) => {
      const path = /\/packages\/(.+\.ts)$/.exec(url)?.[1]
      const ranges = functions.flatMap(({ ranges: [whole] }) => (whole !== undefined && whole.count > 0 ? [whole] : []))
      return path === undefined ? [] : [[path, ranges] as const]
    })
  )
  return entries.flatMap(([, id, { kind }]) => {
    if (kind !== "reached") return []
    const [path = "", name] = id.split(" ")
    const declarations = entriesOf(read(`packages/${path}`).text).flatMap((entry) =>
      entry.name === name ? entry.declarations : []
    )
    const isCalled = declarations.some(({ end, start }) =>
      called.get(path)?.some(({ endOffset, startOffset }) => start <= startOffset && endOffset <= end)
    )
    return isCalled ? [] : [id]
  })
}
