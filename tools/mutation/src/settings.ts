/** The command line of the mutants. */
import { parseArgs } from "node:util"
import { amount, count, flag, Help, text, Usage } from "../../../scripts/commandLine.ts"
import { areaOf, areaOfTests } from "./areas.ts"
import { pathsIn } from "../../../scripts/files.ts"

export interface Settings {
  /** Files and folders; none for all that is mutated. */
  readonly paths: ReadonlyArray<string>
  readonly shard: readonly [k: number, n: number]
  readonly resume: boolean
  /** Only the mutants that survived the last time, of files that have not changed since. */
  readonly survivors: boolean
  /** All mutants of each file, not a sample. */
  readonly all: boolean
  readonly workers: number
  readonly share: number
  readonly write: boolean
  readonly fresh: boolean
  /** The folder or file of tests of which those are sought that find out nothing. */
  readonly idle: string | undefined
}

const help = `npm run mutation -- [path …] [options]

Puts small mistakes into the sources, and says how many of them the tests find out. Without a path: into all packages, which takes hours.
What is known of each file is kept in tools/mutation/results; docs/reports/mutation.md tells it.

  npm run mutation -- packages/core/src/tool/settle.ts
  npm run mutation -- --shard=3/16 --resume

  --shard=k/n    only the k-th of n parts of the files
  --all          all mutants of each file: without it a quarter of them, at least twenty, always the same
  --resume       leaves out files that have not changed since they were tried
  --survivors    only what survived the last time without a reason, in files that have not changed since
  --workers=N    processes at once (1)
  --share=N      the share of the time of all tests that a mutant gets at most (0.1)
  --write        only writes docs/reports/mutation.md, and judges it
  --idle=path    seeks tests below this path that find out nothing: without them no mistake could come in beside fewer than two others;
                 with --survivors only among those that found out nothing last time
  --fresh        forgets which test found out which mutant
`

const options = {
  shard: { ...text, default: "1/1" },
  resume: flag,
  survivors: flag,
  all: flag,
  workers: { ...text, default: "1" },
  share: { ...text, default: "0.1" },
  write: flag,
  fresh: flag,
  idle: text
} as const

const shardOf = (given: string): readonly [k: number, n: number] => {
  const [k, n, ...more] = given.split("/").map(Number)
  if (k === undefined || n === undefined || more.length > 0 || !Number.isInteger(n) || !(k >= 1 && k <= n))
    throw new Usage(`--shard must be k/n with k from 1 to n, got '${given}'`)
  return [count("shard", String(k)), n]
}

export const parse = (parameters: ReadonlyArray<string>): Settings => {
  if (parameters.includes("--help")) throw new Help(help)
  let given
  try {
    given = parseArgs({ args: [...parameters], options, allowPositionals: true })
  } catch (error) {
    throw new Usage(error instanceof Error ? error.message : String(error), { cause: error })
  }
  const { positionals: paths, values } = given
  for (const path of paths) {
    if (!pathsIn(path).some((one) => areaOf(one) !== undefined)) throw new Usage(`nothing is mutated in ${path}`)
  }
  const { all, fresh, idle, resume, survivors, write } = values
  if (idle !== undefined && areaOfTests(idle) === undefined) throw new Usage(`no tests of a package are in ${idle}`)
  return {
    paths: paths.map((path) => path.replace(/\/$/, "")),
    shard: shardOf(values.shard),
    resume,
    survivors,
    all,
    workers: count("workers", values.workers),
    share: amount("share", values.share),
    write,
    fresh,
    idle
  }
}
