using System.Text;

namespace FastPort.Protocol.Tools.Contracts;

/// <summary>Names as protoc's C# generator makes them.</summary>
internal static class CSharpNames
{
    /// <summary><c>walk_now</c> becomes <c>WalkNow</c>, <c>game.v1_beta</c> becomes <c>Game.V1Beta</c>.</summary>
    public static string Pascal(string name)
    {
        var result = new StringBuilder();
        bool capital = true;
        foreach (char c in name)
        {
            bool isLower = c is >= 'a' and <= 'z';
            bool isDigit = c is >= '0' and <= '9';
            if (isLower || isDigit || c is >= 'A' and <= 'Z')
            {
                result.Append(isLower && capital ? char.ToUpperInvariant(c) : c);
                capital = isDigit;
            }
            else
            {
                capital = true;
                if (c == '.')
                {
                    result.Append('.');
                }
            }
        }

        // A name does not begin with a digit: _1 stays _1.
        bool keepsFirst = name.Length != 0 && name[0] == '_' && result.Length != 0 && result[0] is >= '0' and <= '9';
        return keepsFirst ? $"_{result}" : result.ToString();
    }

    /// <summary>The name of a method without Async at its end, which generated methods add where they are asynchronous.</summary>
    public static string MethodName(string name)
    {
        const string Suffix = "Async";
        string pascal = Pascal(name);
        bool ends = pascal.Length > Suffix.Length && pascal.EndsWith(Suffix, StringComparison.Ordinal);
        return ends ? pascal.Substring(0, pascal.Length - Suffix.Length) : pascal;
    }

    /// <summary>The C# class of a message.</summary>
    /// <param name="fullName">The message's full name, with a dot before it.</param>
    /// <param name="files">The files in which it may be declared.</param>
    public static string ClassOf(string fullName, IReadOnlyList<ProtoFile> files)
    {
        foreach (ProtoFile file in files)
        {
            string prefix = file.Package.Length == 0 ? "." : $".{file.Package}.";
            if (fullName.StartsWith(prefix, StringComparison.Ordinal))
            {
                string[] names = fullName.Substring(prefix.Length).Split('.');
                if (file.Types.Contains(names[0]))
                {
                    string space = file.Namespace.Length == 0 ? "" : $"{file.Namespace}.";
                    return $"global::{space}{string.Join(".Types.", names)}";
                }
            }
        }

        throw new InvalidDataException($"No file declares {fullName}.");
    }
}
