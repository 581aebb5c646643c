using System.Buffers.Text;
using System.Globalization;
using System.Text.RegularExpressions;

namespace FastPort.Tls;

/// <summary>
/// The contents of a PEM text (RFC 7468): its blocks in order, and the first damaged one. A block that lacks a line must not be skipped: a
/// chain or a list of authorities would silently lack a certificate. Blocks need no line end between them, because joined files may lack a
/// final line end.
/// </summary>
internal sealed partial class PemText
{
    private const string LegacyEncryption = "Proc-Type: 4,ENCRYPTED";

    private readonly List<PemBlock> _blocks = [];

    /// <summary>Finds the blocks; text around them is skipped.</summary>
    public PemText(string text)
    {
        Match? begin = null;
        int number = 0;
        foreach (Match edge in Edges().Matches(text))
        {
            string label = edge.Groups["label"].Value;
            if (edge.Groups["begin"].Success)
            {
                Missing(begin, number);
                begin = edge;
                number++;
            }
            else if (begin?.Groups["label"].Value == label)
            {
                Add(
                    new PemBlock(number, label, text[begin.Index..(edge.Index + edge.Length)]),
                    text[(begin.Index + begin.Length)..edge.Index]);
                begin = null;
            }
            else
            {
                Missing(begin, number);
                Damage ??= string.Create(
                    CultureInfo.InvariantCulture, $"END {label} in line {LineOf(edge.Index)} has no line BEGIN {label} before it");
                begin = null;
            }
        }

        Missing(begin, number);

        void Missing(Match? start, int block)
        {
            if (start is not null)
            {
                string label = start.Groups["label"].Value;
                Damage ??= string.Create(
                    CultureInfo.InvariantCulture, $"block {block}, BEGIN {label} in line {LineOf(start.Index)}, has no line END {label}");
            }
        }

        int LineOf(int index) => text.AsSpan(0, index).Count('\n') + 1;
    }

    /// <summary>The first damaged block and its problem; null if none is damaged. Not a complete sentence.</summary>
    public string? Damage { get; private set; }

    /// <summary>The blocks that are whole.</summary>
    public IReadOnlyList<PemBlock> Blocks => _blocks;

    /// <summary>Those of certificates.</summary>
    public IReadOnlyList<PemBlock> Certificates => [.. _blocks.Where(static block => block.Label == "CERTIFICATE")];

    /// <summary>The first private key; null for none.</summary>
    public PemBlock? Key => _blocks.Find(static block => block.IsPrivateKey);

    /// <summary>Whether a key is encrypted in OpenSSL's format from before PKCS#8, which .NET does not read.</summary>
    public bool HasLegacyKey { get; private set; }

    private void Add(PemBlock block, string content)
    {
        if (content.Contains(LegacyEncryption, StringComparison.Ordinal))
        {
            HasLegacyKey = true;
        }
        else if (Base64.IsValid(content))
        {
            _blocks.Add(block);
        }
        else
        {
            Damage ??= string.Create(
                CultureInfo.InvariantCulture, $"block {block.Number}, {block.Label}, is not base64: characters are missing or were added");
        }
    }

    [GeneratedRegex("-----(?:(?<begin>BEGIN)|END) (?<label>[^\r\n-]+)-----", RegexOptions.ExplicitCapture | RegexOptions.CultureInvariant)]
    private static partial Regex Edges();
}

/// <summary>One block of a PEM text.</summary>
/// <param name="Number">Its place, from 1.</param>
/// <param name="Label">What it is: CERTIFICATE.</param>
/// <param name="Text">All of it, with its first and last line.</param>
internal sealed record PemBlock(int Number, string Label, string Text)
{
    /// <summary>Whether it is a private key, encrypted or not.</summary>
    public bool IsPrivateKey => Label.EndsWith("PRIVATE KEY", StringComparison.Ordinal);

    /// <summary>Whether it needs a password.</summary>
    public bool IsEncrypted => Label == "ENCRYPTED PRIVATE KEY";
}
