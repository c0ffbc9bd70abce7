/** A page sends nothing. */
import type { Page } from "playwright-core"
import type { Report } from "../../../../scripts/report.ts"
import { drawn } from "./drawn.ts"

export const silent = async (page: Page, report: Report): Promise<void> => {
  await drawn(page)
  const [complaint, blocked] = await Promise.all([
    page.waitForEvent("console", (message) => message.text().includes("Content Security Policy")),
    page.evaluate(() =>
      fetch("http://127.0.0.1:9/").then(
        () => "sent",
        () => "blocked"
      )
    )
  ])
  report.check("nothing can be sent from a page", blocked === "blocked" && complaint.type() === "error", blocked)
}
