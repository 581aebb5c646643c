using Microsoft.Playwright;

namespace FastPort.Tests.Browser;

/// <summary>What a chart shows: how many pixels of its plot have the colors of lines.</summary>
internal static class ChartPixels
{
    /// <summary>Counts the pixels of a part of a chart.</summary>
    /// <param name="chart">The chart's element, around the one of uPlot.</param>
    /// <param name="colors">Names of colors in the style sheet.</param>
    /// <param name="from">Where the part begins, as a share of the plot's width.</param>
    /// <param name="to">Where it ends.</param>
    public static Task<int> CountAsync(ILocator chart, string[] colors, double from = 0, double to = 1) => chart.EvaluateAsync<int>(
        """
        (chart, { colors, from, to }) => {
          const canvas = chart.querySelector("canvas");
          const [all, plot] = [canvas, chart.querySelector(".u-over")].map(element => element.getBoundingClientRect());
          const scale = canvas.width / all.width;
          const rgb = colors.map(name => charts.color(name)).map(hex => [1, 3, 5].map(i => parseInt(hex.slice(i, i + 2), 16)));
          const { data } = canvas.getContext("2d").getImageData(
            Math.ceil((plot.left - all.left + plot.width * from) * scale), Math.ceil((plot.top - all.top) * scale),
            Math.floor(plot.width * (to - from) * scale), Math.floor(plot.height * scale));
          let count = 0;
          for (let i = 0; i < data.length; i += 4) {
            count += data[i + 3] > 127 && rgb.some(color => color.every((part, k) => Math.abs(part - data[i + k]) < 24));
          }

          return count;
        }
        """,
        new { colors, from, to });
}
