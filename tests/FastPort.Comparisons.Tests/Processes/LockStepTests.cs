using System.Buffers.Binary;
using System.Net;
using System.Net.Sockets;
using FastPort.Comparisons.Processes;
using Xunit;

namespace FastPort.Comparisons.Tests.Processes;

/// <summary>The client in C, of requests that are due at a time each.</summary>
public sealed class LockStepTests
{
    private const int PeriodMilliseconds = 1;
    private const int StallMilliseconds = 300;
    private const int FirstOfStall = 20;

    [Fact]
    public async Task Requests_that_were_due_while_the_server_stalled_are_late_and_have_waited()
    {
        using var bench = new Workbench(ProgramLocator.Create(), CpuPinning.Detect());
        NativePrograms native = await NativePrograms.BuildAsync(bench, TestContext.Current.CancellationToken);
        if (native.Missing(native.LockStep) is not null)
        {
            return;
        }

        using var listener = new TcpListener(IPAddress.Loopback, 0);
        listener.Start();
        Task serving = Task.Run(() => EchoWithOneStall(listener), TestContext.Current.CancellationToken);
        string[] command =
        [
            native.LockStep, "--connect", $"tcp://{listener.LocalEndpoint}", "--reply", "as-sent", "--warmup", "0", "--duration", "2",
            "--every", Invariant.Text(PeriodMilliseconds * 1000), "--server-pid", Invariant.Text(Environment.ProcessId),
        ];
        using ChildProcess client = bench.Children.Start(command, bench.TemporaryFolder);
        await client.WaitForExitAsync(TestContext.Current.CancellationToken);
        await serving;

        Assert.Equal(0, client.ExitCode);
        LoadResult result = LoadResult.Read(client.Output());
        Assert.InRange(result.Late!.Value, (StallMilliseconds / PeriodMilliseconds) - 1, long.MaxValue);

        // Of at most 2,000 round trips 300 waited for up to 300 ms; a twentieth is 100, so these waited for at least 200 ms, but for what
        // the backlog gained on the schedule meanwhile.
        Assert.InRange(result.P95Us!.Value, StallMilliseconds * 1000 / 3, double.MaxValue);
    }

    private static void EchoWithOneStall(TcpListener listener)
    {
        using Socket client = listener.AcceptSocket();
        client.NoDelay = true;
        byte[] frame = new byte[1024];
        for (int number = 1; ; number++)
        {
            int received = 0;
            while (received < sizeof(int) || received < sizeof(int) + BinaryPrimitives.ReadInt32LittleEndian(frame))
            {
                int bytes = client.Receive(frame.AsSpan(received));
                if (bytes == 0)
                {
                    return;
                }

                received += bytes;
            }

            if (number == FirstOfStall)
            {
                Thread.Sleep(StallMilliseconds);
            }

            client.Send(frame.AsSpan(0, received));
        }
    }
}
