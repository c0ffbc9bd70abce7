/**
 * What programs weigh that take more or less of this library, and what it is made of: without time, so the same on any machine.
 *
 * `npm run bench -- weight`; the budgets that must not be passed are in `test/repository/bundle.process.test.ts`.
 */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { inFolder, install, weigh } from "../bundling.ts"
import { report } from "../figures.ts"
import { programs } from "../weighed.ts"

const shown = 12

const targets = new Map<string, { readonly gzip?: Limit; readonly beyondEffect?: Limit }>([
  ["a table for an effect", { beyondEffect: { most: 5 } }],
  ["all of the core", { beyondEffect: { most: 25 } }],
  ["hello agent", { gzip: { most: 70 } }]
])

interface Limit {
  readonly most: number
}

await inFolder(async (folder) => {
  install(folder)
  const all = { ...programs, "hello agent": readFileSync(join(folder, "ours.mjs"), "utf8") }
  for (const [name, source] of Object.entries(all)) {
    const { beyondEffect, gzip, modules, packages } = await weigh(folder, source)
    report(`${name}: what it weighs`, [
      { name: "gzip", value: gzip, unit: "KB", ...targets.get(name)?.gzip },
      { name: "gzip, beyond Effect", value: beyondEffect, unit: "KB", ...targets.get(name)?.beyondEffect },
      ...[...packages].map(([name, value]) => ({ name: `minified: ${name}`, value, unit: "KB" }))
    ])
    // which change with every change of a source: for whoever looks, and not kept
    for (const [module, size] of modules.slice(0, shown)) process.stdout.write(`    ${size.toFixed(2)} KB  ${module}\n`)
  }
})
