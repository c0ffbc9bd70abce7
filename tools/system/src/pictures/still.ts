/** Pages without a script: policies and statistics. */
import { Recovery } from "@kintsugi/core"
import { Transport } from "@kintsugi/providers"
import { PolicyPage, PolicyView, Recording, Stats, StatsPage } from "@kintsugi/view"
import { read } from "../../../../scripts/files.ts"
import { search } from "../../../../scripts/pictures.ts"
import type { Report } from "../../../../scripts/report.ts"
import type { Browser } from "../browser.ts"
import { counted } from "./named.ts"

const pages = () => {
  const stats = Stats.of(Recording.parse(read("docs/guide/pictures/events.jsonl").text))
  const policy = PolicyView.make([
    { name: "search", explanation: Recovery.explain(search) },
    { name: "http", explanation: Transport.explain() }
  ])
  return { policy: PolicyPage.make(policy), stats: StatsPage.make(stats) }
}

export const still = async (
  visit: Browser,
  report: Report,
  writePage: (name: string, html: string) => string
): Promise<void> => {
  for (const [name, html] of Object.entries(pages())) {
    const what = `the page of a ${name}`
    await visit({ what, url: writePage(name, html) }, async (page) => {
      const [scripts, wide] = await page.evaluate(
        () => [document.scripts.length, document.documentElement.scrollWidth - innerWidth] as const
      )
      report.check(`${what}: no script`, scripts === 0, String(scripts))
      const [images, tables, regions] = [
        await counted(page, "img"),
        await counted(page, "table"),
        await counted(page, "region")
      ]
      const unnamed = await page.locator("table:not(:has(caption)), [role=region]:not([aria-label])").count()
      report.check(
        `${what}: nothing is cut off, and all has a name`,
        wide <= 0 && unnamed === 0 && regions.named === regions.all,
        `${wide} ${unnamed} ${JSON.stringify(regions)}`
      )
      report.check(`${what}: its drawing has a name`, images.all === 1 && images.named === 1, JSON.stringify(images))
      report.check(
        `${what}: its tables have names`,
        tables.all >= 2 && tables.named === tables.all,
        JSON.stringify(tables)
      )
    })
  }
}
