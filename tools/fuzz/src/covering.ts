/** Which blocks of our own sources have run, by Node's own coverage: what a fuzzer is guided by. */
import { type Profiler, Session } from "node:inspector"

/** What ran since the last look. */
type Report = ReadonlyArray<Profiler.ScriptCoverage>

/** Its own sources, without what is there for tests. */
const isOurs = ({ url }: Profiler.ScriptCoverage): boolean =>
  /\/packages\/(?:core|providers)\/src\//.test(url) && !url.includes("/src/testing/")

interface Block {
  readonly start: number
  readonly end: number
}

/** The blocks of a function that has run, as far as V8 has reported them. */
interface Blocks {
  readonly covered: Set<string>
  readonly missed: Map<string, Block>
}

export class Coverage {
  readonly #session = new Session()
  readonly #functions = new Map<string, Blocks>()

  /** Counts from here on; what is loaded before it is counted where it runs again. */
  constructor() {
    this.#session.connect()
    this.#session.post("Profiler.enable")
    this.#session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: true })
  }

  /** What ran since the last look; the next one begins afresh. */
  look(): Report {
    let report: Report = []
    // the callback is called before `post` returns: it asks the same thread
    this.#session.post("Profiler.takePreciseCoverage", (_, { result }) => {
      report = result.filter(isOurs)
    })
    return report
  }

  /** The number of blocks that ran so far, functions as wholes among them, and of all reported blocks. */
  get blocks(): { readonly covered: number; readonly total: number } {
    let covered = 0
    let missed = 0
    for (const blocks of this.#functions.values()) {
      covered += 1 + blocks.covered.size
      missed += blocks.missed.size
    }
    return { covered, total: covered + missed }
  }

  /** Whether something in it ran for the first time. */
  wouldAdd(report: Report): boolean {
    return report.some(({ functions, url }) =>
      functions.some(({ ranges: [whole, ...parts] }) => {
        if (whole === undefined || whole.count === 0) return false
        const blocks = this.#functions.get(keyOf(url, whole))
        return blocks === undefined || newIn(blocks, parts).length > 0
      })
    )
  }

  /** Takes a report in: whether something in it ran for the first time. */
  add(report: Report): boolean {
    let isNew = false
    for (const { functions, url } of report) {
      for (const { ranges } of functions) {
        const [whole, ...parts] = ranges
        if (whole === undefined || whole.count === 0) continue
        const key = keyOf(url, whole)
        const found = this.#functions.get(key)
        const blocks = found ?? { covered: new Set(), missed: new Map() }
        if (found === undefined) this.#functions.set(key, blocks)
        const names = newIn(blocks, parts)
        isNew ||= found === undefined || names.length > 0
        for (const { count, endOffset: end, startOffset: start } of parts) {
          const name = nameOf(start, end)
          if (count === 0 && !blocks.covered.has(name)) blocks.missed.set(name, { start, end })
        }
        for (const name of names) {
          blocks.missed.delete(name)
          blocks.covered.add(name)
        }
      }
    }
    return isNew
  }
}

const keyOf = (url: string, { endOffset, startOffset }: Profiler.CoverageRange): string =>
  `${url}:${nameOf(startOffset, endOffset)}`

const nameOf = (start: number, end: number): string => `${start}-${end}`

/** A block is named when it ran more or less often than what is around it; one that is not named ran when that did. */
const newIn = ({ covered, missed }: Blocks, ranges: ReadonlyArray<Profiler.CoverageRange>): ReadonlyArray<string> => {
  const idle = ranges.filter(({ count }) => count === 0)
  const isIdle = ({ end, start }: Block) =>
    idle.some(({ endOffset, startOffset }) => startOffset <= start && end <= endOffset)
  const ran = ranges
    .filter(({ count }) => count > 0)
    .map(({ endOffset, startOffset }) => nameOf(startOffset, endOffset))
  const reached = [...missed].filter(([, block]) => !isIdle(block)).map(([name]) => name)
  return [...new Set([...ran, ...reached])].filter((name) => !covered.has(name))
}
