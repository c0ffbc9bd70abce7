/** The texts of a drawing, each with where it begins. */
export const textsOf = (svg: string) =>
  [...svg.matchAll(/<text[^>]* x="([^"]+)" y="([^"]+)"[^>]*>(.*?)<\/text>/g)].map(
    ([, x, y, text]) => [text, Number(x), Number(y)] as const
  )
