/** A page on a narrow screen, and on paper. */
import { Page } from "@kintsugi/view"
import { written } from "../../../../test/view/_support/references.ts"
import type { Report } from "../../../../scripts/report.ts"
import type { Tab } from "../tab.ts"

/** How the timeline stands on paper: its width and height, where it ends, and where the next thing begins. */
const onPaper = `(() => {
  const svg = document.querySelector(".figure svg"), box = svg.getBoundingClientRect()
  const [, , width, height] = svg.getAttribute("viewBox").split(" ").map(Number)
  return [width, box.height / box.width - height / width, box.bottom, document.querySelector(".legend").getBoundingClientRect().top]
})()`

export const narrow = async (
  tab: Tab,
  report: Report,
  place: (name: string, html: string) => string
): Promise<void> => {
  const size = (width: number) =>
    tab.send("Emulation.setDeviceMetricsOverride", { width, height: 900, deviceScaleFactor: 1, mobile: false })
  await size(400)
  try {
    await tab.open(place("narrow", Page.make(written("storm"))))
    await tab.until("document.querySelector('.figure')?.dataset.drawing !== undefined")
    const wide = await tab.evaluate<number>("document.documentElement.scrollWidth - innerWidth")
    report.check("a narrow page is not wider than its screen", wide <= 0, String(wide))
    const columns = await tab.evaluate<ReadonlyArray<number>>(
      "[...document.querySelectorAll('.table th')].map((one) => one.getBoundingClientRect().width)"
    )
    report.check(
      "on it, each column of the table has room",
      columns.length === 6 && columns.every((one) => one > 60),
      columns.join()
    )
    await tab.send("Emulation.setEmulatedMedia", { media: "print" })
    await tab.evaluate("void dispatchEvent(new Event('beforeprint'))")
    const [width = 0, bent = 1, end = Infinity, next = 0] = await tab.evaluate<ReadonlyArray<number>>(onPaper)
    report.check(
      "printed from it, the timeline is drawn for paper and covers nothing",
      width > 600 && Math.abs(bent) < 0.01 && end <= next + 1,
      [width, bent, end, next].join()
    )
    await tab.evaluate("void dispatchEvent(new Event('afterprint'))")
    await tab.send("Emulation.setEmulatedMedia", { media: "" })
    const again = await tab.evaluate<string>("document.querySelector('.figure svg').getAttribute('viewBox')")
    report.check("and as before on the screen then", !again.startsWith(`0 0 ${width} `), again)
  } finally {
    await size(1280)
  }
}
