/**
 * Says what of all that `npm run test:system` needs is there, and installs what can be installed: packages of npm, and those of Debian
 * where this is root.
 *
 *   npm run setup-system
 *   npm run setup-system -- --check        (installs nothing)
 *
 * What is missing is counted, and fails where `CI` is set.
 */
import { isCi } from "../../../scripts/report.ts"
import { provide } from "../../../scripts/provide.ts"
import { tools } from "./tools.ts"

const mayInstall = !process.argv.includes("--check")
const counts = { there: 0, installed: 0, missing: 0 }

for (const tool of Object.values(tools)) {
  const found = provide(tool, mayInstall)
  if ("why" in found) {
    counts.missing++
    console.log(`missing    ${tool.name}: ${found.why}`)
  } else {
    counts[found.isNew ? "installed" : "there"]++
    console.log(`${found.isNew ? "installed" : "there    "}  ${tool.name}: ${found.path}`)
  }
}
console.log(`${counts.there} there, ${counts.installed} installed, ${counts.missing} missing`)
process.exitCode = counts.missing > 0 && isCi() ? 1 : 0
