using System.CommandLine;
using System.Globalization;
using FastPort.OpcUa;
using FastPort.OpcUa.Client;

namespace OpcUaPeer.Ticks;

/// <summary>
/// The client that reads all tags at every tick: it says "ready", and answers each line of standard input, <c>run TICKS</c>, with a line of
/// JSON. Ends with its input.
/// </summary>
internal static class TickCommand
{
    private static readonly Option<string> Url = new("--endpoint") { Description = "Whom to ask.", Required = true };

    private static readonly Option<string> Pki = new("--pki") { Description = "Directory of the certificates.", Required = true };

    private static readonly Option<int?> MaxAge = new("--bridge-max-age")
    {
        Description = "The endpoint is a bridge's; its values may be this old, in milliseconds.",
    };

    public static Command Create()
    {
        var command = new Command("ticks", "Reads 2,000 tags every 100 ms, and writes 200 each second.") { Url, Pki, MaxAge };
        command.SetAction((parsed, _) => RunAsync(
            parsed.GetRequiredValue(Url), parsed.GetRequiredValue(Pki), parsed.GetValue(MaxAge)));
        return command;
    }

    private static async Task RunAsync(string endpoint, string pki, int? maxAge)
    {
        await using ITickTarget target = maxAge is { } milliseconds
            ? await BridgeTickTarget.ConnectAsync(endpoint, TimeSpan.FromMilliseconds(milliseconds))
            : await OpcUaTickTarget.ConnectAsync(endpoint, Options(pki));
        var samples = new ProcessSamples();
        Console.WriteLine("ready");
        await foreach (string line in InputLines.Start().ReadAllAsync())
        {
            int ticks = int.Parse(line.Split(' ')[1], CultureInfo.InvariantCulture);
            TickFigures figures = await new TickRun(target, samples, ticks).RunAsync();
            Console.WriteLine(figures.ToLine(samples));
        }
    }

    private static OpcUaClientOptions Options(string pki)
    {
        var options = new OpcUaClientOptions
        {
            SecurityPolicy = OpcUaSecurityPolicy.None,
            Reconnect = false,
            Loops = 1,

            // What follows an answer does nothing that blocks.
            RunContinuationsOnLoop = true,
        };
        options.Certificates.Directory = pki;
        options.Certificates.UnsafeTrustAll = true;
        return options;
    }
}
