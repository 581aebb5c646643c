using System.Globalization;
using IndustrialGateway.Messages;
using Microsoft.Extensions.Hosting;

namespace IndustrialGateway.Monitoring;

/// <summary>
/// Writes a line of health every <see cref="GatewayOptions.HealthIntervalSeconds"/> and a last one when the gateway has stopped.
/// </summary>
internal sealed class HealthReporter(HealthMonitor monitor, GatewayOptions options, TimeProvider time) : BackgroundService
{
    public override async Task StopAsync(CancellationToken cancellationToken)
    {
        await base.StopAsync(cancellationToken);

        // Services stop after the server: these are the final figures.
        Write("stopped", monitor.Report());
    }

    protected override async Task ExecuteAsync(CancellationToken stoppingToken)
    {
        using var timer = new PeriodicTimer(TimeSpan.FromSeconds(options.HealthIntervalSeconds), time);
        while (await timer.WaitForNextTickAsync(stoppingToken))
        {
            Write("health", monitor.Report());
        }
    }

    private static void Write(string title, HealthReport report) => Console.WriteLine(string.Create(
        CultureInfo.InvariantCulture,
        $"{title}: up {report.UptimeSeconds} s, {report.Connections} connections, {report.MessagesIn} messages in, {report.MessagesOut} "
        + $"out, {report.Errors} errors, P99 {report.P99Us:0.0} us"));
}
