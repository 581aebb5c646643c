using System.Globalization;
using FastPort;
using FastPort.TestHost;
using FastPort.TestHost.Impaired;

switch (args)
{
    case ["serve-ws"]:
        await ServeMode.RunAsync(scheme: "ws");
        return 0;
    case ["serve"]:
        await ServeMode.RunAsync();
        return 0;
    case ["serve", var transport, var heartbeat]:
        await ServeMode.RunAsync(
            Enum.Parse<TransportKind>(transport), TimeSpan.FromMilliseconds(int.Parse(heartbeat, CultureInfo.InvariantCulture)));
        return 0;
    case ["inline"]:
        await InlineMode.RunAsync();
        return 0;
    case ["blocked", var transport, var way, .. var certificate]:
        BlockedMode.Run(Enum.Parse<TransportKind>(transport), way, certificate.SingleOrDefault(string.Empty));
        return 0;
    case ["scarce", var transport, var loops, .. var second]:
        await ScarceMode.RunAsync(
            Enum.Parse<TransportKind>(transport), int.Parse(loops, CultureInfo.InvariantCulture), second is ["second"]);
        return 0;
    case ["scarce-start", var transport, var loops, .. var path]:
        await ScarceStartMode.RunAsync(
            Enum.Parse<TransportKind>(transport), int.Parse(loops, CultureInfo.InvariantCulture), path.SingleOrDefault());
        return 0;
    case ["lock-step", .. var spinMicroseconds]:
        await LockStepMode.RunAsync(spinMicroseconds is [var one] ? int.Parse(one, CultureInfo.InvariantCulture) : null);
        return 0;
    case ["spinners"]:
        SpinnersMode.Run();
        return 0;
    case ["half-open", var transport, .. var settings]:
        await HalfOpenMode.RunAsync(Enum.Parse<TransportKind>(transport), settings);
        return 0;
    case ["link", var endpoint, var size]:
        await LinkMode.RunAsync(endpoint, int.Parse(size, CultureInfo.InvariantCulture));
        return 0;
    case ["start-stop", var rounds]:
        await StartStopMode.RunAsync(int.Parse(rounds, CultureInfo.InvariantCulture));
        return 0;
    case ["impaired-link", var first, var second, var loss, var delay, var late, var seed]:
        ImpairedLinkMode.Run(first, second, LinkImpairment.Parse(loss, delay, late, seed));
        return 0;
    case ["impaired-server", var transport, var heartbeat]:
        await ImpairedServerMode.RunAsync(
            Enum.Parse<TransportKind>(transport), TimeSpan.FromMilliseconds(int.Parse(heartbeat, CultureInfo.InvariantCulture)));
        return 0;
    case ["impaired-clients", var transport, var count, var heartbeat]:
        await ImpairedClientMode.RunAsync(
            Enum.Parse<TransportKind>(transport),
            int.Parse(count, CultureInfo.InvariantCulture),
            TimeSpan.FromMilliseconds(int.Parse(heartbeat, CultureInfo.InvariantCulture)));
        return 0;
    default:
        await Console.Error.WriteLineAsync(
            "Usage: FastPort.TestHost serve [<transport> <heartbeat-ms>] | serve-ws | inline | blocked <transport> "
            + "| scarce <transport> <loops> [second] "
            + "| scarce-start <transport> <loops> [<path>] "
            + "| lock-step [<spin-us>] | spinners | half-open <transport> <setting>... "
            + "| link <endpoint> <size> | start-stop <rounds> "
            + "| impaired-link <process-id> <process-id> <loss-percent> <delay-ms> <late-percent> <seed> "
            + "| impaired-server <transport> <heartbeat-ms> | impaired-clients <transport> <count> <heartbeat-ms>");
        return 2;
}
