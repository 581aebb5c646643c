using System.Diagnostics;
using System.Security.Cryptography;
using FastPort.Telemetry;

namespace OpcUaPeer.Ciphers;

/// <summary>
/// What SignAndEncrypt cannot do without: HMAC-SHA256 and AES-256-CBC of a request and a response, at the sender and at the receiver, and
/// nothing else; their contexts are made once.
/// </summary>
internal static class CipherRun
{
    private const int BlockBytes = 16;

    public static Task RunAsync(int requestBytes, int responseBytes) => RunLines.AnswerAsync((leadIn, seconds) =>
    {
        Measure(leadIn, requestBytes, responseBytes);
        return Task.FromResult(Measure(seconds, requestBytes, responseBytes));
    });

    private static string Measure(double seconds, int requestBytes, int responseBytes)
    {
        using var aes = Aes.Create();
        (aes.Mode, aes.Padding) = (CipherMode.CBC, PaddingMode.None);
        using ICryptoTransform encryptor = aes.CreateEncryptor();
        using ICryptoTransform decryptor = aes.CreateDecryptor();
        using var hmac = IncrementalHash.CreateHMAC(
            HashAlgorithmName.SHA256, RandomNumberGenerator.GetBytes(HMACSHA256.HashSizeInBytes));
        byte[] request = RandomNumberGenerator.GetBytes((requestBytes + BlockBytes - 1) / BlockBytes * BlockBytes);
        byte[] response = RandomNumberGenerator.GetBytes((responseBytes + BlockBytes - 1) / BlockBytes * BlockBytes);
        var times = new LatencyHistogram();
        long until = Stopwatch.GetTimestamp() + (long)(seconds * Stopwatch.Frequency);
        long begun = Stopwatch.GetTimestamp();
        TimeSpan cpu = ProcessFigures.OwnCpu;
        for (long last = begun; last < until;)
        {
            Pass(encryptor, decryptor, hmac, request);
            Pass(encryptor, decryptor, hmac, response);
            long now = Stopwatch.GetTimestamp();
            times.Record((long)((now - last) * (1e9 / Stopwatch.Frequency)));
            last = now;
        }

        var usage = new ProcessUsage(ProcessFigures.OwnCpu - cpu, TimeSpan.Zero, BridgeCpu: null, ClientAllocated: 0);
        return new LoadFigures(times.Snapshot(), Stopwatch.GetElapsedTime(begun).TotalSeconds, usage, Environment.ProcessId).ToLine();
    }

    private static void Pass(ICryptoTransform encryptor, ICryptoTransform decryptor, IncrementalHash hmac, byte[] message)
    {
        Sign(hmac, message);
        Transform(encryptor, message);
        Transform(decryptor, message);
        Sign(hmac, message);
    }

    private static void Sign(IncrementalHash hmac, byte[] message)
    {
        Span<byte> signature = stackalloc byte[HMACSHA256.HashSizeInBytes];
        hmac.AppendData(message);
        hmac.GetHashAndReset(signature);
    }

    private static void Transform(ICryptoTransform cipher, byte[] message)
    {
        cipher.TransformBlock(message, 0, message.Length, message, 0);
        cipher.TransformFinalBlock([], 0, 0);
    }
}
