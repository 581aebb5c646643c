using System.Globalization;

namespace FastPort.TestHost.Impaired;

/// <summary>
/// Joins the networks of two processes by an <see cref="ImpairedLink"/>, until standard input ends. The line "cut" cuts the link, "restore"
/// joins it again; "spare" has no packet be lost by chance, "lose" some again; each line, "counts" too, is answered with the counts.
/// </summary>
internal static class ImpairedLinkMode
{
    /// <summary>The address of the first process on the link.</summary>
    public const string FirstAddress = "10.98.0.1";

    private const string SecondAddress = "10.98.0.2";

    public static void Run(string first, string second, LinkImpairment impairment)
    {
        var link = new ImpairedLink(Open(first, FirstAddress), Open(second, SecondAddress), impairment);
        link.Start();
        Console.WriteLine(link.Counts());
        while (Console.ReadLine() is { } line)
        {
            switch (line)
            {
                case "cut" or "restore":
                    link.Cut(line == "cut");
                    break;
                case "spare" or "lose":
                    link.Spare(line == "spare");
                    break;
            }

            Console.WriteLine(link.Counts());
        }
    }

    private static TunDevice Open(string processId, string address) =>
        TunDevice.Open(int.Parse(processId, CultureInfo.InvariantCulture), $"{address}/24");
}
