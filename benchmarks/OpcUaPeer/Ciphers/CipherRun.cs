using System.Diagnostics;
using System.Globalization;
using System.Security.Cryptography;
using FastPort.Telemetry.Histograms;
using FastPortPeer;

namespace OpcUaPeer.Ciphers;

/// <summary>
/// What SignAndEncrypt cannot do without: HMAC-SHA256 and AES-256-CBC of a request and a response, at the sender and at the receiver, and
/// nothing else.
/// </summary>
internal static class CipherRun
{
    private const int BlockBytes = 16;

    public static async Task RunAsync(int requestBytes, int responseBytes)
    {
        Console.WriteLine("ready");
        await foreach (string line in InputLines.Start().ReadAllAsync())
        {
            string[] words = line.Split(' ');
            Measure(double.Parse(words[1], CultureInfo.InvariantCulture), requestBytes, responseBytes);
            Console.WriteLine(Measure(double.Parse(words[2], CultureInfo.InvariantCulture), requestBytes, responseBytes));
        }
    }

    private static string Measure(double seconds, int requestBytes, int responseBytes)
    {
        using var aes = Aes.Create();
        byte[] iv = RandomNumberGenerator.GetBytes(BlockBytes);
        byte[] key = RandomNumberGenerator.GetBytes(HMACSHA256.HashSizeInBytes);
        aes.Key = RandomNumberGenerator.GetBytes(32);
        byte[] request = RandomNumberGenerator.GetBytes((requestBytes + BlockBytes - 1) / BlockBytes * BlockBytes);
        byte[] response = RandomNumberGenerator.GetBytes((responseBytes + BlockBytes - 1) / BlockBytes * BlockBytes);
        var times = new LatencyHistogram();
        long until = Stopwatch.GetTimestamp() + (long)(seconds * Stopwatch.Frequency);
        long begun = Stopwatch.GetTimestamp();
        TimeSpan cpu = ProcessFigures.OwnCpu;
        for (long last = begun; last < until;)
        {
            Pass(aes, iv, key, request);
            Pass(aes, iv, key, response);
            long now = Stopwatch.GetTimestamp();
            times.Record((long)((now - last) * (1e9 / Stopwatch.Frequency)));
            last = now;
        }

        return LoadLine.Of(
            times.Snapshot(), Stopwatch.GetElapsedTime(begun).TotalSeconds, ProcessFigures.OwnCpu - cpu, TimeSpan.Zero,
            Environment.ProcessId, 0, null);
    }

    private static void Pass(Aes aes, byte[] iv, byte[] key, byte[] message)
    {
        Span<byte> signature = stackalloc byte[HMACSHA256.HashSizeInBytes];
        HMACSHA256.HashData(key, message, signature);
        aes.EncryptCbc(message, iv, message, PaddingMode.None);
        aes.DecryptCbc(message, iv, message, PaddingMode.None);
        HMACSHA256.HashData(key, message, signature);
    }
}
