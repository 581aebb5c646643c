using System.Globalization;
using FastPort;
using IndustrialGateway.Messages;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;

namespace IndustrialGateway;

/// <summary>
/// Some clients read, write and watch tags through the gateway of this process; then the gateway stops with a request in flight.
/// </summary>
internal static class Demo
{
    private const int ClientCount = 3;
    private const int ReadsPerClient = 50;

    /// <returns>Whether every reply was the expected one.</returns>
    public static async Task<bool> RunAsync(IHost host)
    {
        var endpoint = host.Services.GetRequiredService<FastPortServer>().Endpoints[0].ToString();
        Console.WriteLine($"demo: {ClientCount} clients on {endpoint}");
        int[] values = await Task.WhenAll(Enumerable.Range(1, ClientCount).Select(i => ReadAsync(i, endpoint)));
        Console.WriteLine($"demo: {values.Sum()} values read");

        await using FastPortClient client = await ConnectAsync("operator", endpoint);
        var gateway = new GatewayClient(client);
        Task<TagValue> watch = gateway.WatchAsync(new TagNames { Names = { "boiler.setpoint" } })
            .FirstAsync(static setpoint => setpoint.Value == 85).AsTask();
        Written written = await gateway.WriteAsync(new WriteRequest { Name = "boiler.setpoint", Value = 85 });
        TagValue seen = await watch;
        TagValues boiler = await gateway.ReadAsync(new TagNames { Names = { "boiler.setpoint", "boiler.temperature" } });
        Console.WriteLine(string.Create(
            CultureInfo.InvariantCulture,
            $"demo: boiler.setpoint {written.Previous} -> {seen.Value}, temperature {boiler.Values[1].Value:0.0}"));

        ErrorCode unknown = await ErrorOfAsync(gateway, new WriteRequest { Name = "boiler.colour", Value = 1 });
        ErrorCode measured = await ErrorOfAsync(gateway, new WriteRequest { Name = "pump.flow", Value = 1 });
        Console.WriteLine($"demo: writing an unknown tag: {unknown}; writing a measured one: {measured}");

        HealthReport health = await gateway.HealthAsync(new HealthRequest());
        Console.WriteLine(string.Create(
            CultureInfo.InvariantCulture,
            $"demo: health says {health.Connections} connections, {health.Errors} errors, P99 {health.P99Us:0.0} us"));

        int late = await StopWithRequestInFlightAsync(host, gateway);
        Console.WriteLine($"demo: the gateway stopped and still answered {late} values of the request in flight");
        return values.Sum() == ClientCount * ReadsPerClient * 2
            && boiler.Values[0].Value == 85 && unknown == ErrorCode.NotFound && measured == ErrorCode.Forbidden
            && health is { Connections: >= 1, Errors: 2, P99Us: > 0 }
            && late == 100;
    }

    private static async Task<int> ReadAsync(int number, string endpoint)
    {
        await using FastPortClient client = await ConnectAsync($"client-{number}", endpoint);
        var gateway = new GatewayClient(client);
        var request = new TagNames { Names = { "boiler.temperature", "pump.flow" } };

        // All at once: the gateway runs MaxConcurrency requests at a time and answers each when its handler has ended.
        TagValues[] replies = await Task.WhenAll(Enumerable.Range(0, ReadsPerClient).Select(_ => gateway.ReadAsync(request)));
        return replies.Sum(static r => r.Values.Count);
    }

    // A hundred tags at 2 ms each: the stop begins while the handler runs or before the request arrives; the gateway answers in both cases.
    private static async Task<int> StopWithRequestInFlightAsync(IHost host, GatewayClient gateway)
    {
        var request = new TagNames { Names = { Enumerable.Repeat("pump.flow", 100) } };
        Task<TagValues> reply = gateway.ReadAsync(request);
        await host.StopAsync();
        return (await reply).Values.Count;
    }

    private static async Task<FastPortClient> ConnectAsync(string name, string endpoint)
    {
        var client = new FastPortClient(new FastPortClientOptions { Endpoint = endpoint, ClientName = name });
        await client.ConnectAsync();
        return client;
    }

    private static async Task<ErrorCode> ErrorOfAsync(GatewayClient gateway, WriteRequest request)
    {
        try
        {
            await gateway.WriteAsync(request);
            return ErrorCode.None;
        }
        catch (RequestFailedException e)
        {
            return e.Code;
        }
    }
}
