/**
 * Refuses what holds on POSIX alone: paths that are joined or split by `/`, the `pathname` of a file's URL, and signals that Windows does
 * not have. A file that looks at `process.platform` is left out. The lint step runs it.
 *
 *   npm run portable
 */
import { filesIn } from "./files.ts"
import { findingsIn } from "./portable/finding.ts"

/** Tools that start PostgreSQL, read `/proc`, or end groups of processes: they say in their README that they need Linux. */
const posixOnly = /^tools\/(?:durable-lab|load|mutation|soak|system)\//

const isProgram = (path: string): boolean => /\.(?:ts|mjs)$/.test(path) && !/\/page\/script\.ts$|\.d\.ts$/.test(path)

const files = ["packages", "scripts", "tools", "bench", "test"]
  .flatMap((folder) => filesIn(folder, isProgram))
  .filter(({ path }) => !posixOnly.test(path))
const findings = files.flatMap(findingsIn)
for (const { line, path, says } of findings) process.stdout.write(`${path}:${line} ${says}\n`)
process.stdout.write(`${files.length} files, ${findings.length} hold on POSIX alone\n`)
process.exitCode = findings.length === 0 ? 0 : 1
