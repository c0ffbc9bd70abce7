/** Texts of a run that would like to be more than text. */
import type { Page } from "playwright-core"
import type { Report } from "../../../../scripts/report.ts"
import { drawn } from "./drawn.ts"

export const harmless = async (page: Page, report: Report, nth: number): Promise<void> => {
  await drawn(page)
  await page.getByRole("application", { name: "Timeline" }).press("ArrowRight")
  const said = await page.evaluate(() => {
    const elements = [...document.querySelectorAll("*")]
    return JSON.stringify([
      Object(globalThis).hacked,
      document.scripts.length,
      document.querySelectorAll("img, iframe, object, style").length,
      elements.some((one) => [...one.attributes].some(({ name }) => name.startsWith("on")))
    ])
  })
  report.check(`hostile text ${nth} does nothing`, said === "[null,2,1,false]", said)
}

/** A long text of a run stays readable: the page folds it, and shows all of it on demand. */
export const unfolded = async (page: Page, report: Report): Promise<void> => {
  const fold = page.locator(".entry .fold").first()
  const length = () => fold.evaluate((own) => own.previousSibling?.textContent?.length ?? 0)
  const before = await length()
  await fold.click()
  const after = await length()
  const expanded = await fold.getAttribute("aria-expanded")
  report.check(
    "a long text is folded, and unfolds",
    before > 0 && before < 800 && after === 5000 && expanded === "true",
    `${before} ${after} ${expanded}`
  )
}
