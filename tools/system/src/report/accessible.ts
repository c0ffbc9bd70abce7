/** What axe finds in a page. */
import axe from "axe-core"
import type { Page } from "playwright-core"
import type { Report } from "../../../../scripts/report.ts"

/** Checks that axe finds nothing. Its script goes past the policy of the page, which allows only the page's own. */
export const accessible = async (page: Page, report: Report, what: string): Promise<void> => {
  await page.evaluate(axe.source)
  const found = await page.evaluate(async () => {
    // cast: the script of axe has set the global name
    const { violations } = await (globalThis as unknown as { readonly axe: typeof axe }).axe.run()
    return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 120)).join(" | ")}`)
  })
  report.check(`${what}: axe finds nothing`, found.length === 0, found.join("; "))
}
