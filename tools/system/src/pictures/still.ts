/** Pages without a script: policies and statistics. */
import { Recovery } from "@kintsugi/core"
import { Transport } from "@kintsugi/providers"
import { PolicyPage, PolicyView, Recording, Stats, StatsPage } from "@kintsugi/view"
import { read } from "../../../../scripts/files.ts"
import { search } from "../../../../scripts/pictures.ts"
import type { Report } from "../../../../scripts/report.ts"
import type { Tab } from "../tab.ts"

const pages = () => {
  const stats = Stats.of(Recording.parse(read("docs/guide/pictures/events.jsonl").text))
  const policy = PolicyView.make([
    { name: "search", explanation: Recovery.explain(search) },
    { name: "http", explanation: Transport.explain() }
  ])
  return { policy: PolicyPage.make(policy), stats: StatsPage.make(stats) }
}

export const still = async (tab: Tab, report: Report, place: (name: string, html: string) => string): Promise<void> => {
  for (const [name, html] of Object.entries(pages())) {
    await tab.open(place(name, html))
    const [scripts, wide, unnamed] = await tab.evaluate<ReadonlyArray<number>>(
      `[document.scripts.length, document.documentElement.scrollWidth - innerWidth, document.querySelectorAll("svg[role=img]:not([aria-labelledby]), table:not(:has(caption)), [role=region]:not([aria-label])").length]`
    )
    report.check(
      `the page of a ${name}: no script, no fault`,
      scripts === 0 && tab.faults.length === 0,
      tab.faults.join()
    )
    report.check(
      `the page of a ${name}: nothing is cut off, and all has a name`,
      (wide ?? 1) <= 0 && unnamed === 0,
      `${wide} ${unnamed}`
    )
    const nodes = Object(await tab.send("Accessibility.getFullAXTree")).nodes
    const named = (role: string): ReadonlyArray<string> =>
      nodes.flatMap((node: { role?: { value: string }; name?: { value: string } }) =>
        node.role?.value === role ? [node.name?.value ?? ""] : []
      )
    const images = [...named("image"), ...named("img")]
    report.check(
      `the page of a ${name}: its drawing has a name`,
      images.length === 1 && images.every((one) => one !== ""),
      images.join()
    )
    report.check(
      `the page of a ${name}: its tables have names`,
      named("table").length >= 2 && named("table").every((one) => one !== ""),
      named("table").join()
    )
  }
}
