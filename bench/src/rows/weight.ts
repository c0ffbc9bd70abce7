/**
 * What programs weigh that take more or less of this library, and what they are made of: without time, so the same on any machine.
 *
 * `npm run bench -- weight`; the sizes that must not be passed are in `test/repository/agentBundles.process.test.ts` and `bundle.process.test.ts`.
 */
import { type Figure, report } from "../figures.ts"
import { inFolder, install, weigh, weighBeyondEffect } from "../bundling.ts"
import { agents, heaviest, programs, sourceOf } from "../weighed.ts"

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
  const parts = Object.entries(programs)
  for (const [name, source] of [...parts, ["hello agent", sourceOf("hello")] as const]) {
    const weight = await weigh(folder, source)
    const { gzip, packages } = weight
    const beyondEffect = await weighBeyondEffect(folder, source)
    report(`${name}: what it weighs`, [
      { name: "gzip", value: gzip, unit: "KB", ...targets.get(name)?.gzip },
      { name: "gzip, beyond Effect", value: beyondEffect, unit: "KB", ...targets.get(name)?.beyondEffect },
      ...[...packages].map(([name, value]) => ({ name: `minified: ${name}`, value, unit: "KB" }))
    ])
    tell(heaviest(weight))
  }
  const weighed: Array<Figure> = []
  for (const agent of agents) {
    const weight = await weigh(folder, sourceOf(agent))
    weighed.push({ name: agent, value: weight.gzip, unit: "KB" })
    tell([agent, ...heaviest(weight)])
  }
  report("Ten agents, each in one file: gzip", weighed)
})

/** Which modules are heavy changes with every change of a source: that is for people who look, and is not kept. */
function tell(lines: ReadonlyArray<string>): void {
  process.stdout.write(lines.map((line) => `    ${line}\n`).join(""))
}
