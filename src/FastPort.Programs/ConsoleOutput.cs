using System.Globalization;
using System.Text;

namespace FastPort.Programs;

/// <summary>
/// Standard output or standard error, which may be full or closed: output that cannot be written is dropped, and the program continues.
/// Every write is tried, because a disk may have room again. Thread-safe by <see cref="Console.SetOut"/>, which makes one write wait for
/// the other.
/// </summary>
/// <param name="output">The console's own writer.</param>
/// <param name="tell">Called with the reason when a write first fails. Defaults to no callback.</param>
internal sealed class ConsoleOutput(TextWriter output, Action<string>? tell = null) : TextWriter(CultureInfo.InvariantCulture)
{
    private bool _isTold;

    public override Encoding Encoding => output.Encoding;

    /// <summary>
    /// Prevents failures of this process's writes to both streams. For programs whose work is more than their output: others report lost
    /// output.
    /// </summary>
    public static void Protect()
    {
        ProtectErrors();
        Console.SetOut(new ConsoleOutput(Open(static () => Console.Out, TellErrors), TellErrors));
    }

    /// <summary>Prevents failures of this process's writes to standard error.</summary>
    public static void ProtectErrors() => Console.SetError(new ConsoleOutput(Open(static () => Console.Error)));

    public override void Write(char value) => Write(new ReadOnlySpan<char>(in value));

    public override void Write(char[] buffer, int index, int count) => Write(buffer.AsSpan(index, count));

    public override void Write(string? value) => Write(value.AsSpan());

    // In one piece: other processes may write lines to the same place.
    public override void WriteLine(string? value) => Write($"{value}{NewLine}");

    public override void Write(ReadOnlySpan<char> buffer)
    {
        try
        {
            output.Write(buffer);
        }
        catch (Exception e) when (IsTrouble(e))
        {
            Tell(e);
        }
    }

    public override void Flush()
    {
        try
        {
            output.Flush();
        }
        catch (Exception e) when (IsTrouble(e))
        {
            Tell(e);
        }
    }

    // A closed descriptor is reported as missing access.
    private static bool IsTrouble(Exception e) => e is IOException or UnauthorizedAccessException or ObjectDisposedException;

    // Without a stream, the console's writer cannot be created.
    private static TextWriter Open(Func<TextWriter> console, Action<string>? tell = null)
    {
        try
        {
            return console();
        }
        catch (Exception e) when (IsTrouble(e))
        {
            tell?.Invoke(e.Message);
            return Null;
        }
    }

    private static void TellErrors(string why) =>
        Console.Error.WriteLine($"Standard output cannot be written: {why.TrimEnd('.')}. The program continues without it.");

    private void Tell(Exception e)
    {
        if (!_isTold)
        {
            _isTold = true;
            tell?.Invoke(e.Message);
        }
    }
}
